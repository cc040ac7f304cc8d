/**
 * What is to happen to whichever seller of a fleet first reaches a point with one payment. Orders are a file that every
 * process reads at every point, and whoever carries one out writes a note that can be written only once: so each order
 * is carried out once in the whole fleet, also by a process that was started since.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Act, Point, Step } from '../round/point.ts';

export type Orders = {
  /** Names the notes; each round of a fleet has another. */
  readonly round: number;
  /** 0x and 64 lower-case digits, which a payment's key ends with. */
  readonly nonce: string;
  /** The PAYMENT-SIGNATURE that is presented, letter for letter. */
  readonly header: string;
  /** Carried out in this order. */
  readonly steps: readonly Step[];
};

const name = 'orders.json';

/** Gives orders to a fleet; no process ever sees half of them. */
export function giveOrders(folder: string, orders: Orders): void {
  const next = join(folder, `next.${name}`);
  writeFileSync(next, JSON.stringify(orders));
  renameSync(next, join(folder, name));
}

/** Takes them back: whoever reaches a point from now on goes on. */
export function withdrawOrders(folder: string): void {
  rmSync(join(folder, name), { force: true });
}

export type Order = { readonly act: Act; readonly nonce: string };

/** Where a process is: at a point, with a payment that is known by its nonce, its key or its header. */
export type Whereabouts = { readonly point: Point; readonly payment: string };

/** What this process must do here, which nobody else will do again; undefined as a rule. */
export function takeOrder(folder: string, where: Whereabouts): Order | undefined {
  const next = nextOrder(folder, where.payment);
  if (next === undefined || next.step.point !== where.point || !takeNote(folder, next.note)) return undefined;
  return { act: next.step.act, nonce: next.nonce };
}

/** A look that takes nothing: whether what must be done next must be done here. */
export function isOrdered(folder: string, where: Whereabouts): boolean {
  return nextOrder(folder, where.payment)?.step.point === where.point;
}

/** The steps that were carried out, in their order. */
export function carriedOut(folder: string, { round, steps }: Orders): readonly Step[] {
  return steps.filter((_step, at) => hasNote(folder, `${round}.${at}`));
}

type Next = { readonly step: Step; readonly note: string; readonly nonce: string };

/** The first step that nobody has carried out, where the orders are about this payment. */
function nextOrder(folder: string, payment: string): Next | undefined {
  const orders = readOrders(folder);
  if (orders === undefined) return undefined;
  const { round, nonce, header, steps } = orders;
  if (payment !== header && !payment.endsWith(nonce)) return undefined;
  const at = steps.findIndex((_step, index) => !hasNote(folder, `${round}.${index}`));
  const step = steps[at];
  return step === undefined ? undefined : { step, note: `${round}.${at}`, nonce };
}

function readOrders(folder: string): Orders | undefined {
  try {
    const orders: Orders = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    return orders;
  } catch {
    // There are none, as a rule.
    return undefined;
  }
}

function notePath(folder: string, note: string): string {
  return join(folder, `done.${note}`);
}

function takeNote(folder: string, note: string): boolean {
  try {
    writeFileSync(notePath(folder, note), '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

function hasNote(folder: string, note: string): boolean {
  return existsSync(notePath(folder, note));
}
