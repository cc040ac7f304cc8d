/** The end of a run: nothing fails any more, and everything that is owed must come out right. */
import { type Cast, replaceDead } from './cast.ts';
import { landed } from './chain.ts';
import { settle } from './clock.ts';
import { present } from './counter.ts';
import { month, resume } from './deeds.ts';
import { judgeCharges, type Purchase } from './purchase.ts';

/** Whoever paid gets what was paid for, or its payment stands where an operator looks; nobody was charged twice. */
export async function calmDown(cast: Cast): Promise<void> {
  const { stage, shops } = cast;
  const { clock, luck, trace, watched } = stage;
  stage.calmDown();
  trace.say(() => 'calm      from here on nothing fails any more');
  // Twice, for those who halt or die of what began before the calm.
  for (const ms of [100_000, 400_000]) {
    await resume(cast);
    replaceDead(cast);
    for (const { process } of shops) process.shift(0);
    await clock.advance(ms);
  }
  if (luck.chance(0.1)) await month(cast);
  for (const { nonce, resourceUrl } of watched.records()) {
    const purchase = stage.purchases.get(nonce);
    if (purchase !== undefined) purchase.bought = resourceUrl.slice(resourceUrl.indexOf('/weather'));
  }
  for (const purchase of stage.purchases.values()) await settleUp(cast, purchase);
  for (const words of judgeCharges(stage.purchases.values())) stage.fault(words);
}

/** S4, I4: who paid and got nothing gets it now, or an operator finds it on the list. */
async function settleUp({ stage, shops }: Cast, purchase: Purchase): Promise<void> {
  const { clock, watched, fault } = stage;
  const { bill } = purchase;
  const excused = bill.lied || bill.outside || purchase.closed;
  const owed = landed(bill) !== undefined && purchase.deliveredMs === undefined && !excused;
  const target = purchase.bought ?? purchase.target;
  // Where nothing is owed, one shop shows that nothing is stuck.
  for (const shop of owed ? shops : [stage.luck.pick(shops)]) {
    const asked = present(stage, { purchase, shop, target });
    await settle();
    await clock.advance(4_000);
    const seen = await asked;
    if (seen?.problem.code === 'payment_in_progress') fault(`S4: ${bill.name} is in progress for ever`);
  }
  if (!owed || purchase.deliveredMs !== undefined) return;
  const due = await watched.storeOf('operator').due(1_000);
  if (!due.some(({ nonce }) => nonce === bill.nonce)) fault(`S4, I4: ${bill.name} was paid and is lost`);
}
