/**
 * The last word: what the chain shows that our seller was paid, against what our seller's records say. Our seller is
 * stopped first, so nothing moves any more.
 */
import { type ClaimRecord, moneyNow } from 'counterfoil/claim';
import { withStore } from '../../open.ts';
import { scan } from '../../payments/scan.ts';
import { type Finding, must, type Part } from '../part.ts';
import type { Stage } from '../stage.ts';

/** One movement of money, as either side describes it. */
export type Movement = {
  readonly transaction: string;
  readonly payer: string;
  readonly amount: bigint;
};

/** What was read. */
export type Ledger = {
  readonly onChain: readonly Movement[];
  /** Nonces of used authorizations, of all our buyers. */
  readonly used: readonly string[];
  readonly settled: readonly (Movement & { readonly nonce: string })[];
  /** Records whose money is not known. */
  readonly unknown: number;
  readonly records: number;
};

export const chain: Part = {
  name: 'chain',
  title: "Chain: what it shows that our seller was paid, against our seller's records",
  promise: 'S3',
  claim: 'no transfer without a record, no record without its transfer',
  play: async (stage) => {
    await stage.stopOurs('stop');
    return finding(await read(stage));
  },
};

async function read(stage: Stage): Promise<Ledger> {
  const { chain: actor, roles, fromBlock, storeFile } = stage;
  const logs = await actor.chain.transfers({ to: actor.sellerAddress, fromBlock });
  const buyers = [roles.ours, roles.oursAgent, roles.oursTwins, roles.oursCrash];
  const used = await Promise.all(
    buyers.map((buyer) => actor.chain.authorizationsUsed(buyer.address, fromBlock)),
  );
  const records: ClaimRecord[] = [];
  await withStore({ store: storeFile }, { env: {} }, async (store) => {
    for await (const record of scan(store)) records.push(record);
  });
  return {
    onChain: logs.map(({ transaction, from, value }) => ({ transaction, payer: from, amount: value })),
    used: used.flat().map((event) => event.nonce),
    settled: records.flatMap(movementOf),
    unknown: records.filter((record) => moneyNow(record, Date.now()).state === 'unknown').length,
    records: records.length,
  };
}

function movementOf(record: ClaimRecord): readonly (Movement & { readonly nonce: string })[] {
  const { money, payer, nonce } = record;
  if (money.state !== 'settled') return [];
  return [{ transaction: money.transaction, payer, amount: money.amount, nonce }];
}

/** The judgement: both sides list the same movements, and every used authorization belongs to one of them. */
export function finding(ledger: Ledger): Finding {
  const { onChain, used, settled, unknown, records } = ledger;
  const chainSide = onChain.map(nameOf);
  const ownSide = settled.map(nameOf);
  const nonces = new Set(settled.map(({ nonce }) => nonce));
  const strangers = used.filter((nonce) => !nonces.has(nonce.toLowerCase()));
  return {
    checks: [
      must('transfers to our seller', onChain.length, settled.length),
      must('authorizations used by our buyers', used.length, onChain.length),
      must('transfers without a record', missing(chainSide, ownSide), 0),
      must('settled records without a transfer', missing(ownSide, chainSide), 0),
      must('used authorizations without a settled record', strangers.length, 0),
      must('records whose money is unknown', unknown, 0),
    ],
    figures: { transfers: onChain.length, authorizationUsed: used.length, settled: settled.length, records },
  };
}

function nameOf({ transaction, payer, amount }: Movement): string {
  return `${transaction.toLowerCase()} ${payer.toLowerCase()} ${amount}`;
}

/** How many of the first list are not in the second; each entry of it counts once. */
function missing(entries: readonly string[], others: readonly string[]): number {
  const left = [...others];
  return entries.filter((entry) => {
    const at = left.indexOf(entry);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  }).length;
}
