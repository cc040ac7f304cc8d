/**
 * `counterfoil reconcile`: one pass over every payment whose money is unknown. Each is looked up on its chain and
 * what that proves is written down; nothing is sent and nobody is charged.
 */

import { moneyNow } from 'counterfoil/claim';
import {
  type Chains,
  createChainReader,
  createRpc,
  type ReconcileSummary,
  type Resolution,
  reconcile,
} from 'counterfoil/settlement';
import { createSystem } from 'counterfoil/system';
import { displayText, parseNetwork } from 'counterfoil/wire';
import { type Colors, colorsOf, exits, type Io, MisuseError, writeJson } from '../io.ts';
import { formatMoney } from '../money.ts';
import { withStore } from '../open.ts';
import { shortKey, transactionOf } from '../payments/scan.ts';
import { renderTable } from '../table.ts';

export type ReconcileOptions = {
  readonly store: string;
  readonly rpc: readonly string[];
  readonly json?: boolean;
};

/** Looks everything up; 0 nothing is unknown any more, 1 the chains prove nothing yet for some, 3 one could not be read. */
export async function reconcilePayments(options: ReconcileOptions, io: Io): Promise<number> {
  const urls = endpointsOf(options.rpc);
  const system = await createSystem();
  const readers = new Map(
    [...urls].map(([network, url]) => [network, createChainReader(createRpc({ url, http: system.http }))]),
  );
  const resolutions: Resolution[] = [];
  try {
    const summary = await withStore(options.store, (store) =>
      reconcile(store, chainsOf(readers), (resolution) => {
        resolutions.push(resolution);
        if (resolutions.length % 25 === 0) io.stderr.write(`${resolutions.length} looked up\n`);
      }),
    );
    report({ summary, resolutions }, options, io);
    return exitOf(summary);
  } finally {
    await system.close();
  }
}

function chainsOf(readers: ReadonlyMap<string, ReturnType<typeof createChainReader>>): Chains {
  return (network) => readers.get(network);
}

/** `network=url`, each network once. */
export function endpointsOf(texts: readonly string[]): ReadonlyMap<string, string> {
  const urls = new Map<string, string>();
  for (const text of texts) {
    const at = text.indexOf('=');
    const network = text.slice(0, Math.max(0, at));
    const url = text.slice(at + 1);
    if (parseNetwork(network) === undefined)
      throw new MisuseError(`--rpc takes network=url, as eip155:8453=https://…, not "${displayText(text)}".`);
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new MisuseError(`The RPC URL of ${network} must be http or https.`);
    if (urls.has(network)) throw new MisuseError(`--rpc names ${network} twice.`);
    urls.set(network, url);
  }
  return urls;
}

/** What could not be read outweighs what is not proven yet: the operator can do something about the first. */
export function exitOf(summary: ReconcileSummary): number {
  if (summary.unreadable > 0) return exits.unknown;
  return summary.stillUnknown > 0 ? exits.fails : exits.holds;
}

type Outcome = { readonly summary: ReconcileSummary; readonly resolutions: readonly Resolution[] };

function report(outcome: Outcome, options: ReconcileOptions, io: Io): void {
  const { summary, resolutions } = outcome;
  if (options.json === true) {
    writeJson(io, { ...summary, payments: resolutions.map(jsonOf) });
    return;
  }
  const colors = colorsOf(io, io.stdout);
  if (resolutions.length > 0) io.stdout.write(`${tableOf(resolutions, colors)}\n`);
  io.stdout.write(`${sentenceOf(summary)}\n`);
}

function jsonOf({ record, fate, changed, nowMs }: Resolution): unknown {
  const { key, route, network, payer, amount } = record;
  const money = moneyNow(record, nowMs).state;
  return {
    key,
    route,
    network,
    payer,
    amount,
    fate,
    changed,
    money,
    transaction: transactionOf(record) ?? null,
  };
}

function tableOf(resolutions: readonly Resolution[], colors: Colors): string {
  const rows = resolutions.map(({ record, fate, nowMs }) => [
    shortKey(record),
    displayText(record.route, 32),
    record.network,
    formatMoney(record.amount, { network: record.network, address: record.asset }),
    fateText(fate),
    moneyNow(record, nowMs).state,
    transactionOf(record) ?? '-',
  ]);
  const head = ['key', 'route', 'network', 'amount', 'the chain says', 'money', 'transaction'];
  return renderTable({ head: head.map((title) => colors.bold(title)), rows, right: [3] });
}

function fateText(fate: Resolution['fate']): string {
  switch (fate.kind) {
    case 'settled':
      return `settled in block ${fate.block}`;
    case 'expired':
      return `ended unused, final block ${fate.block}`;
    case 'canceled':
      return `canceled in block ${fate.block}`;
    case 'used_elsewhere':
      return `used elsewhere, block ${fate.block}`;
    case 'unused':
      return `unused at block ${fate.block}`;
    case 'unread':
      return `not read: ${displayText(fate.why)}`;
    case 'no_chain':
      return 'not asked: no --rpc for it';
    default:
      return fate satisfies never;
  }
}

function sentenceOf(summary: ReconcileSummary): string {
  const { looked, settled, refused, stillUnknown, unreadable } = summary;
  if (looked === 0) return 'No payment of this store has unknown money.';
  return `${looked} looked up: ${settled} settled, ${refused} refused, ${stillUnknown} not proven yet, ${unreadable} could not be read.`;
}
