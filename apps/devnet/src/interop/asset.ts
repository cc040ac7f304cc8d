/** The devnet's dollar as a seller of the library is told of it. Apart from the market, so that a seller starts fast. */
import { type Asset, defineAsset } from 'counterfoil/terms';
import type { Devnet } from '../devnet.ts';

/** The asset that the devnet's dollar is. */
export function assetOf(devnet: Pick<Devnet, 'dollar' | 'network'>): Asset {
  const { address, decimals, name, symbol, version } = devnet.dollar;
  return defineAsset({ network: devnet.network, address, symbol, decimals, name, version, dollar: true });
}
