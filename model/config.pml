/* What a run can choose, with -D on spin's command line (plan.ts has the runs), and the broken variants. */

#ifndef KEYS
#define KEYS 1              /* 2: a second, newer payment of the same buyer for the same request */
#endif
#ifndef COPIES
#define COPIES 3            /* how often the payment is presented: twins in flight and re-presentations */
#endif
#ifndef COPIES_OF_NEWER
#define COPIES_OF_NEWER 2
#endif
#ifndef REQUESTS
#define REQUESTS 1          /* 2: copies may ask for another request than the one that was bought */
#endif
#ifndef SELLERS
#define SELLERS 2           /* seller processes on one store */
#endif
#ifndef CRASHES
#define CRASHES 1           /* kill -9, at any step */
#endif
#ifndef HANDLER_FAILS
#define HANDLER_FAILS 1     /* 0: a handler fails only by being killed */
#endif
#ifndef REACHES_NOBODY
#define REACHES_NOBODY 1    /* 1: a call may fail before a byte has left (connection refused) */
#endif
#ifndef LIES
#define LIES 0              /* 1: the facilitator may say yes without landing, and no after landing */
#endif
#ifndef LOOKUP
#define LOOKUP 0            /* 1: unknown money is looked up on the chain */
#endif
#ifndef GATE_LOOKUP
#define GATE_LOOKUP 0       /* 1: a facilitator's yes is looked up as well, before anything is handed over */
#endif
#ifndef RESET_IS_TOLD
#define RESET_IS_TOLD 0     /* 1: the buyer whose seller was killed counts as told, at once */
#endif
#ifndef RECHECKS
#define RECHECKS 0          /* how often a reconciler looks at a record, also at one that has settled */
#endif
#ifndef REORGS
#define REORGS 0            /* 1: the block with the payment vanishes once; its bytes may land again, or never */
#endif
#ifndef SPENT_EARLY
#define SPENT_EARLY 0       /* 1: a payment may be canceled before anything of it was sent */
#endif
#ifndef ANOTHER_FLOW
#define ANOTHER_FLOW 0      /* 1: sellers of another flow had this payment first, and never sent it */
#endif
#ifndef STREAMS
#define STREAMS 1           /* escrow: bytes may leave while the work runs */
#endif
#ifndef NUMBERED_FENCES
#define NUMBERED_FENCES 1   /* 0: an abstraction for the larger searches, see record.pml */
#endif
#ifndef BROKEN
#define BROKEN 0
#endif

#ifndef MAX_SENDS
#define MAX_SENDS 2         /* a send and one identical re-send in each phase; the code sends twice again */
#endif
#define MAX_ATTEMPTS 2      /* handler runs per payment (design S1, default) */

#define AUTHORIZATION 1
#define UPFRONT 2
#define ESCROW 3

/* The deliberately broken variants: each takes one rule away and must fail for the law plan.ts names. */
#define NO_FENCE             1   /* work transitions do not compare owner and fence */
#define NO_GRACE             2   /* take-over at the end of the lease: no grace, no abort */
#define RELEASE_ON_LEAVE     3   /* a client's disconnect frees the key */
#define KEEP_AFTER_SEND      4   /* begin-send first, the answer is kept once the money is there */
#define LOST_IS_REFUSED      5   /* a lost answer of the facilitator is taken for a refusal */
#define PAYABLE_UNKNOWN      6   /* an unknown is answered with a payable 402 */
#define DELIVER_UNKNOWN      7   /* an unknown is answered with the goods */
#define LATE_REFUSAL         8   /* a refusal counts, whichever send it answers */
#define RANK_IGNORED         9   /* the first evidence stays, also against the chain */
#define DEAD_IS_A_VIEW      10   /* "this one is dead, pay anew" is said and not written */
#define CHECK_THEN_TAKE     11   /* the other payment is looked for before take, not in it */
#define UNKNOWN_ONLY_BLOCKS 12   /* an unknown that is being sent again no longer blocks */
#define OLDER_ONLY_BLOCKS   13   /* only a payment that is older by creation blocks */
#define SAY_BEFORE_WRITE    14   /* 503 leaves before `unknown` is in the store */
#define START_WITHOUT_CLAIM 15   /* who hears `settled` runs the handler, without compare-and-set */
#define VOID_IS_NOT_FINAL   16   /* after a void that did not land the work may run again */
#define FRESH_CHARGE        17   /* a charge is repeated with new bytes instead of the identical ones */
#define TIMEOUT_IS_PROOF    18   /* the clock, not a final block, says that an authorization expired */
#define RESEND_WITHOUT_CAS  19   /* a re-send does not compare the record at all */
#define UNSENT_AFTER_LEASE  20   /* "not a byte has left" is believed after the sender's lease */
#define SPOOL_AFTER_LEASE   21   /* a stream goes on while nobody has taken over, whatever its lease */
#define SERVED_IS_DELIVERED 22   /* once a newer payment is answered from it, an undelivered one no longer blocks */
#define WINDOW_THEN_TAKE    23   /* the window is judged before take, and what it says is not written */
#define LEASE_FROM_ANSWER   24   /* the seller counts its lease from the store's answer, not from its own question */

#define RULE_IN_TAKE   (BROKEN != CHECK_THEN_TAKE)
#define WINDOW_IN_TAKE (BROKEN != WINDOW_THEN_TAKE)
#if BROKEN == CHECK_THEN_TAKE || BROKEN == WINDOW_THEN_TAKE
#define FIRST_STEP CHECK
#else
#define FIRST_STEP TAKE
#endif
