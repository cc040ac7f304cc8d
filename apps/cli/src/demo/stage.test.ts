import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { burst } from './part/burst.ts';
import { echoed } from './part/echoed.ts';
import { elsewhere } from './part/elsewhere.ts';
import { lost } from './part/lost.ts';
import { replay } from './part/replay.ts';
import { holds } from './part.ts';
import { openStage, type Stage } from './stage.ts';

const settings = { copies: 8, workMs: 300, keep: false };

describe('a stage with the official seller in our place', () => {
  let stage: Stage;
  let swapped: Stage;
  before(async () => {
    stage = await openStage(settings, { progress: () => {}, closable: () => {} });
    const { rigs } = stage.chain;
    swapped = {
      ...stage,
      ours: () => stage.stock,
      chain: {
        ...stage.chain,
        sellerAddress: stage.stockPayTo,
        rigs: { ours: rigs.stock, stock: rigs.stock },
      },
    };
  });
  after(() => stage.close());

  test('the parts find what is wrong with it: every copy runs, replays fail, agents pay three times, payments buy other things', async () => {
    const found = await burst.play(swapped);
    assert.deepEqual([holds(found), found.figures.handlerRuns], [false, settings.copies]);
    const paid = await lost.play(swapped);
    assert.deepEqual([holds(paid), paid.figures.transfers, paid.figures.deliveries], [false, 3, 0]);
    assert.equal(holds(await replay.play(swapped)), false);
    for (const part of [elsewhere, echoed]) assert.equal(holds(await part.play(swapped)), false);
  });

  test('the store key lies outside the database, for its owner alone', () => {
    assert.equal(statSync(join(stage.folder, 'store.key')).mode & 0o777, 0o600);
    assert.equal(statSync(stage.storeFile).mode & 0o077, 0);
  });

  test('closing ends every process and removes the files', async () => {
    const pids = [stage.chain.actor, stage.ours().actor, stage.stock.actor].map(({ pid }) => pid);
    await stage.close();
    for (const pid of pids) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
    assert.equal(existsSync(stage.folder), false);
  });
});

test('a boot that is given up ends what it had started, and what starts after that', async () => {
  let close = async (): Promise<void> => {};
  const booting = openStage(settings, {
    progress: (text) => {
      if (text.includes('seller')) void close();
    },
    closable: (task) => {
      close = task;
    },
  });
  await assert.rejects(booting, { name: 'ActorError' });
});
