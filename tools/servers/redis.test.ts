import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type Redis, type RedisOptions, sharedRedis, startRedis } from './redis.ts';

async function started(t: TestContext, options?: RedisOptions): Promise<Redis> {
  const redis = await startRedis(options);
  t.after(redis.stop);
  return redis;
}

/** Sends one command in Redis's inline form and resolves with the first answer. */
async function say(url: string, command: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`${command}\r\n`);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return String(answer).trim().replaceAll('\r\n', ' ');
}

test('a redis-server keeps what it acknowledged through a restart and through a SIGKILL', async (t) => {
  const redis = await started(t);
  assert.equal(await say(redis.url, 'SET a 1'), '+OK');
  const first = redis.pid;
  await redis.restart();
  assert.notEqual(redis.pid, first);
  assert.equal(await say(redis.url, 'GET a'), '$1 1');
  assert.equal(await say(redis.url, 'SET b 2'), '+OK');
  await redis.kill();
  await assert.rejects(say(redis.url, 'PING'), { code: 'ECONNREFUSED' });
  await redis.restart();
  assert.equal(await say(redis.url, 'MGET a b'), '*2 $1 1 $1 2');
  const { pid } = redis;
  await redis.stop();
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

test('two redis-servers stand side by side, each with its own ways', async (t) => {
  const [one, two] = await Promise.all([
    started(t),
    started(t, { aof: false, appendfsync: 'no', args: ['--maxmemory', '10mb'] }),
  ]);
  assert.notEqual(one.port, two.port);
  await say(one.url, 'SET a 1');
  assert.equal(await say(two.url, 'GET a'), '$-1');
  assert.equal(await say(one.url, 'CONFIG GET appendfsync'), '*2 $11 appendfsync $6 always');
  assert.equal(await say(two.url, 'CONFIG GET appendonly'), '*2 $10 appendonly $2 no');
  assert.equal(await say(two.url, 'CONFIG GET maxmemory'), '*2 $9 maxmemory $8 10485760');
});

test('a redis-server that refuses an argument is an error with its reason', async () => {
  await assert.rejects(startRedis({ args: ['--maxmemory', 'much'] }), /does not start: .*maxmemory/s);
  // @ts-expect-error a mistyped option
  await assert.rejects(startRedis({ fsync: 'no' }), TypeError);
});

test('callers of the shared redis-server get one server and a prefix each', async () => {
  const [one, two] = await Promise.all([sharedRedis(), sharedRedis()]);
  assert.equal(one.url, two.url);
  assert.notEqual(one.prefix, two.prefix);
  assert.equal(await say(one.url, 'PING'), '+PONG');
});
