/* Everything that is not the seller: the chain, the facilitator, the clock, the buyer's copies, and the
 * judge who looks at the end. */

mtype chain[KEYS] = UNUSED;   /* one fate per nonce (in escrow: per deposit); EXPIRED: seen in a final block */
bit flying[KEYS];             /* payment bytes that may still land, though nobody was told */
bit flyingCharge[KEYS];
bit flyingVoid[KEYS];
byte charges[KEYS];
bit tooLate[KEYS];            /* the window of design 4 is over, by the store's clock; the bytes may still land */
bit late[KEYS];               /* escrow: the deadline less the margin has passed, no new work for this deposit */
byte left[KEYS];              /* how often each payment will still be presented */
byte rechecks = RECHECKS;     /* looks of a reconciler still to come; it looks again after a settlement as well */
byte reorgs = REORGS;
byte crashes = CRASHES;       /* kill -9 still to come */
bit serving[SELLERS];         /* has a request in progress */
bit over;

/* The chain takes a nonce once; a charge or a void ends a deposit. */
#define CAN_LAND(k, what) ((what == PAY && chain[k] == UNUSED) || (what != PAY && chain[k] == LANDED) || \
                         (what == CHARGE && BROKEN == FRESH_CHARGE && chain[k] == CHARGED))
#define HAPPENED(k, what) ((what == PAY && chain[k] != UNUSED && chain[k] != EXPIRED && chain[k] != CANCELED) || \
                           (what == CHARGE && chain[k] == CHARGED) || (what == VOID && chain[k] == RETURNED))
#define NOBODY_RUNS(k) (executing[0] != k + 1 && executing[SELLERS - 2] != k + 1 && executing[SELLERS - 1] != k + 1)
#define MONEY_IS_OURS(k) (chain[k] == LANDED || chain[k] == CHARGED)

inline land(k, what) {
  if
  :: what == PAY -> chain[k] = LANDED; flying[k] = 0
  :: what == CHARGE -> chain[k] = CHARGED; charges[k]++; LAW(ONE, charges[k] <= 1)
  :: what == VOID -> chain[k] = RETURNED; LAW(I2, !record[k].handed && !record[k].streamed)
  fi;
  if
  :: what != PAY -> flyingCharge[k] = 0; flyingVoid[k] = 0   /* they find nothing any more */
  :: else -> skip
  fi
}

inline fly(k, what) {
  if
  :: what == PAY -> flying[k] = (chain[k] == UNUSED)
  :: what == CHARGE -> flyingCharge[k] = (chain[k] == LANDED)
  :: what == VOID -> flyingVoid[k] = (chain[k] == LANDED)
  fi
}

/* One HTTP call to the facilitator, and what the seller hears of it. Bytes that fly may land much
 * later: after the answer was lost, after a crash, after the lease. An honest refusal drops them. */
inline callFacilitator(k) {
  if
  :: CAN_LAND(k, sent) -> land(k, sent); heard = OK
  :: CAN_LAND(k, sent) -> fly(k, sent); heard = LOST   /* and lands now, later or never */
  :: CAN_LAND(k, sent) || chain[k] == EXPIRED || chain[k] == CANCELED || chain[k] == RECLAIMED -> heard = NO
  :: !CAN_LAND(k, sent) -> heard = LOST
  :: REACHES_NOBODY -> heard = UNSENT
#if LIES
  :: CAN_LAND(k, sent) -> fly(k, sent); heard = OK
  :: !CAN_LAND(k, sent) -> heard = OK
  :: CAN_LAND(k, sent) -> land(k, sent); heard = NO
#endif
  fi
}

/* A chain look-up: reading is one step, writing down what was read is another (recordChain). */
#if BROKEN == TIMEOUT_IS_PROOF
#define CHAIN_SAYS(k) (chain[k] == UNUSED -> EXPIRED : chain[k])
#else
#define CHAIN_SAYS(k) chain[k]
#endif

/* recordMoney with the chain's evidence: no fence, and it overrides what a facilitator said. */
#if BROKEN == RANK_IGNORED
#define OVERRULED(k) false
#else
#define OVERRULED(k) (record[k].money == REFUSED && !record[k].proven)
#endif
inline recordChain(k, seen) {
  if
  :: seen == LANDED && record[k].phase == PAY && (IN_FLIGHT(k) || OVERRULED(k)) ->
    if
    :: record[k].money == REFUSED -> REACHED(refusal_overruled)
    :: else -> REACHED(unknown_was_paid)
    fi;
    DOUBT_IF_UNKNOWN(k); record[k].money = WHEN_OK(PAY); record[k].proven = 1
  :: (seen == EXPIRED || seen == CANCELED) && record[k].phase == PAY && (IN_FLIGHT(k) || OVERRULED(k)) ->
    DOUBT_IF_UNKNOWN(k); record[k].money = REFUSED; record[k].proven = 1; record[k].kept = 0; letGo(k);
    REACHED(unknown_was_dead)
  :: seen == LANDED && record[k].money == SETTLED && record[k].phase == PAY ->
    record[k].proven = 1; REACHED(settlement_proven)
  :: (seen == EXPIRED || seen == CANCELED) && record[k].money == SETTLED && record[k].phase == PAY && !record[k].proven ->
    record[k].money = REFUSED; record[k].proven = 1; record[k].kept = 0; letGo(k); REACHED(settlement_refuted)
  :: seen == CHARGED && record[k].phase == CHARGE && (IN_FLIGHT(k) || record[k].money == HELD) ->
    DOUBT_IF_UNKNOWN(k); record[k].money = SETTLED; record[k].proven = 1; letGo(k);
    REACHED(unknown_was_charged)
  :: (seen == RETURNED || seen == RECLAIMED) && (IN_FLIGHT(k) || record[k].money == HELD || (record[k].money == VOIDED && !record[k].proven)) ->
    DOUBT_IF_UNKNOWN(k); record[k].money = VOIDED; record[k].proven = 1; letGo(k);
    REACHED(unknown_was_returned)
#if FLOW == ESCROW
  :: seen == LANDED && record[k].money == VOIDED && !record[k].proven -> record[k].money = HELD; REACHED(void_overruled)
#endif
  :: else -> skip
  fi
}

/* The abort signal has fired in a living owner before the grace is over; a frozen owner runs nothing. */
inline leaseRunsOut(k) {
  record[k].lease = (record[k].work == RUNNING -> record[k].lease - 1 : 0);   /* only a run has a grace */
  if
  :: record[k].lease == 0 && executing[record[k].owner - 1] == k + 1 -> executing[record[k].owner - 1] = 0
  :: else -> skip
  fi
}

/* An authorization that dies before a send of it was begun is refused by the window check or by that send. */
#define FATE_MATTERS(k) (record[k].money != NONE || record[k].work == DONE)

/* A buyer who got no answer to a superseded payment signs yet another one, which takes its place here. */
inline anotherPayment() {
  record[1].exists = 0; record[1].superseded = 0; record[1].work = IDLE; record[1].attempts = 0;
  record[1].kept = 0; record[1].sends = 0; buried[1] = 0; runs[1] = 0; again[1] = 0; REACHED(third_payment)
}

proctype World(byte k) {
end_world:
  do
  :: d_step { !over && record[k].owner != 0 && record[k].lease > 0 -> EVENT("lease runs out"); leaseRunsOut(k) }
  :: d_step { !over && chain[k] == UNUSED && FATE_MATTERS(k) -> EVENT("expires"); chain[k] = EXPIRED; flying[k] = 0 }
#if KEYS == 1 && FLOW != ESCROW
  :: d_step { !over && chain[k] == UNUSED && (FATE_MATTERS(k) || SPENT_EARLY) -> EVENT("is canceled"); chain[k] = CANCELED; flying[k] = 0 }
#endif
  :: d_step { !over && reorgs > 0 && chain[k] == LANDED -> EVENT("is reorganised"); reorgs--; chain[k] = UNUSED; flying[k] = 1; REACHED(reorganised) }
  :: d_step { !over && flying[k] -> EVENT("lands late"); land(k, PAY); REACHED(landed_late) }
#if KEYS == 1
  :: d_step { !over && record[k].money == NONE && !tooLate[k] -> EVENT("window closes"); tooLate[k] = 1 }
  :: d_step { !over && record[k].handed && record[k].kept -> EVENT("answer pruned"); record[k].kept = 0; DID(prune, 9); REACHED(answer_gone) }
#else
  :: d_step { !over && k == 1 && record[1].superseded && left[1] > 0 -> EVENT("is replaced"); anotherPayment() }
#endif
#if FLOW == ESCROW
  :: d_step { !over && chain[k] == LANDED && flyingCharge[k] -> EVENT("charge lands"); land(k, CHARGE) }
  :: d_step { !over && chain[k] == LANDED && flyingVoid[k] -> EVENT("void lands"); land(k, VOID) }
  :: d_step { !over && chain[k] == LANDED && !late[k] -> EVENT("deadline nears"); late[k] = 1 }
  :: d_step { !over && chain[k] == LANDED && late[k] && NOBODY_RUNS(k) -> EVENT("payer reclaims"); chain[k] = RECLAIMED; flyingCharge[k] = 0; flyingVoid[k] = 0; REACHED(reclaimed) }
#endif
  od
}

/* Nobody is left: what landed must be on record or found by a look-up, and nothing paid for is lost. */
/* I4 is judged on the chain where look-up is on or the facilitator is honest (design 9.11). */
#define ON_CHAIN (LOOKUP || !LIES)
#define KNOWN(k) (PASSED(k) || (IN_FLIGHT(k) && (!LOOKUP || record[k].phase != PAY)))
inline judge(k) {
  if
  :: LOOKUP -> recordChain(k, CHAIN_SAYS(k))
  :: else -> skip
  fi;
  LAW(I4, !ON_CHAIN || !MONEY_IS_OURS(k) || (record[k].exists && KNOWN(k)));
  LAW(I4, !PASSED(k) || record[k].handed || record[k].kept || WILL_RUN_OR_IS_OWED(k));
  if
  :: record[k].money == SETTLED && !record[k].handed && !record[k].kept && !RUNNABLE(k) -> REACHED(owed)
  :: else -> skip
  fi
}

proctype Judge() {
  d_step {
    left[0] == 0 && left[KEYS - 1] == 0 && !serving[0] && !serving[SELLERS - 2] && !serving[SELLERS - 1] -> over = 1;
    judge(0);
#if KEYS == 2
    judge(1);
    if
    :: MONEY_IS_OURS(0) && MONEY_IS_OURS(1) && record[0].handed && record[1].handed -> REACHED(twins_both_delivered)
    :: else -> skip
    fi;
#endif
    skip
  }
}

/* Where both flows are on sale: the other one had the payment first. Flow upfront began a send of which no byte left,
 * or flow authorization has runs that failed, or one for a seller that may be dead by now. */
inline startedElsewhere() {
  record[0].exists = 1;
  if
  :: FLOW == AUTHORIZATION -> record[0].attempts = 0
  :: record[0].attempts = 1; record[0].work = (FLOW == UPFRONT -> FAILED : IDLE)
  :: FLOW == UPFRONT -> record[0].attempts = 2; record[0].work = FAILED
  :: FLOW == UPFRONT -> record[0].attempts = 1; record[0].work = RUNNING; record[0].owner = SELLERS; record[0].lease = 2
  fi
}

init {
  atomic {
    left[0] = COPIES; record[0].money = NONE; record[0].work = IDLE; record[0].phase = PAY;
#if ANOTHER_FLOW
    startedElsewhere();
#endif
#if KEYS == 2
    left[1] = COPIES_OF_NEWER; record[1].money = NONE; record[1].work = IDLE; record[1].phase = PAY;
    run World(1);
#endif
    run World(0); run Seller(0); run Seller(1); run Judge()
#if SELLERS == 3
    ; run Seller(2)
#endif
  }
}
