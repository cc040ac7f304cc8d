import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { closeServer, createJsonServer, listenLocal } from './http.ts';
import { FAULTS, type FaultAnswer, spoil } from './spoil.ts';

const REAL = { status: 200, body: Buffer.from(JSON.stringify({ success: true, transaction: '0xabc' })) };

/** What a caller of the given answer gets: status, text and how it ended. */
async function ask(answer: FaultAnswer): Promise<string> {
  const stopped = new AbortController();
  const server = createJsonServer((_request, response) =>
    spoil(answer, { response, endpoint: 'settle', upstream: REAL, stopped: stopped.signal }),
  );
  const port = await listenLocal(server, 0);
  try {
    const response = await fetch(`http://127.0.0.1:${port}/settle`, { method: 'POST' });
    const text = await response.text().catch(() => 'cut');
    return `${response.status} ${text}`;
  } catch {
    return 'no answer';
  } finally {
    stopped.abort();
    await closeServer(server, 0);
  }
}

describe('spoiled answers', () => {
  test('each way of answering looks to the caller as it says', async () => {
    const real = REAL.body.toString();
    assert.equal(await ask({ kind: 'upstream' }), `200 ${real}`);
    assert.equal(await ask({ kind: 'status', status: 502 }), '502 502\n');
    assert.equal(await ask({ kind: 'truncated' }), `200 ${real.slice(0, real.length >> 1)}`);
    assert.equal(await ask({ kind: 'reset' }), 'no answer');
    assert.equal(await ask({ kind: 'reset', afterBytes: 5 }), '200 cut');
    assert.equal(await ask({ kind: 'unended' }), '200 cut');
    assert.equal(await ask({ kind: 'hang', forMs: 5 }), 'no answer');
    const refused = JSON.parse((await ask({ kind: 'refused', reason: 'because' })).slice(4));
    assert.deepEqual(
      { success: refused.success, errorReason: refused.errorReason, transaction: refused.transaction },
      { success: false, errorReason: 'because', transaction: '' },
    );
  });

  test('every fault whose name says that it lands lets the real facilitator work, and no other but pass', () => {
    for (const [name, fault] of Object.entries(FAULTS)) {
      assert.equal(fault.forward !== false, name === 'pass' || name.startsWith('land_'), name);
    }
  });
});
