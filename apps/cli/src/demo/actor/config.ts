/** Reads, in a seller process, what its parent told it; and the little of HTTP that both sellers share. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { isObject, readCount, readHex, readObject, readText } from '../process/read.ts';
import type { ShopConfig } from './shop.ts';

/** Parses the configuration that both sellers have. */
export function readShopConfig(input: unknown): ShopConfig {
  const config = readObject(input, 'config');
  const asset = readObject(config.asset, 'asset');
  const [namespace = '', reference = ''] = readText(config, 'network').split(':');
  return {
    network: `${namespace}:${reference}`,
    payTo: readHex(config, 'payTo'),
    facilitatorUrl: readText(config, 'facilitatorUrl'),
    asset: {
      address: readHex(asset, 'address'),
      symbol: readText(asset, 'symbol'),
      decimals: readCount(asset, 'decimals'),
      name: readText(asset, 'name'),
      version: readText(asset, 'version'),
    },
    workMs: readCount(config, 'workMs'),
  };
}

/** Listens on 127.0.0.1; port 0 takes a free one. */
export async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address: unknown = server.address();
  return isObject(address) ? readCount(address, 'port') : 0;
}

/** Stops listening and cuts what is still open. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
