/* Flow `authorization`: verify -> work -> keep the answer and begin the send, in one operation ->
 * settled -> deliver (design 3). */
#include "config.pml"
#include "transitions.pml"
#include "laws.pml"
#define FLOW AUTHORIZATION
#define WHEN_OK(what) SETTLED
#define WHEN_NO(what) REFUSED
#define BEFORE(what) NONE
#define KEPT_BEFORE(what) true                    /* I7 */
#define RUNS_UNPAID true
#define GATE(k) (record[k].money == SETTLED)
#define WILL_RUN_OR_IS_OWED(k) false
#include "record.pml"
#include "world.pml"
#define WORKING(k)    (record[k].exists && record[k].work == RUNNING && !TAKEABLE(k))
#define UNSENT_YET(k) (!record[k].exists || (record[k].money == NONE && record[k].work != DEAD && !WORKING(k)))
#include "seller.pml"


/* A payment that never was sent: it is worked for, sent, or declared dead. Whatever is answered of it
 * must stay true when an earlier owner wakes up, so every branch here leaves a new fence. */
inline takeUnsent() {
  if
  :: record[k].exists && record[k].work == DONE -> NAMED(beginSend)   /* the code comes here by another operation */
  :: else -> skip
  fi;
  if
  :: RULE_IN_TAKE && UNRESOLVED(k) ->
    shutOut(k); target = OTHER(k); next = (LOOKUP && !looked -> LOOK : END); REACHED(blocked_by_other)
  :: RULE_IN_TAKE && !UNRESOLVED(k) && UNDELIVERED(k) ->
    supersede(k)
  :: else ->
    if
    :: !record[k].exists -> claim(k); record[k].request = request; beginRun(k); next = VERIFY
    :: record[k].exists && record[k].work == DONE ->
      if
      :: record[k].request != request -> sayWait(); REACHED(used_elsewhere)
      :: else -> claim(k); beginSend(k, PAY); next = CALL; REACHED(kept_answer_sent)
      fi
    :: record[k].exists && record[k].work != DONE && RUNNABLE(k) ->
      if
      :: record[k].work == RUNNING -> REACHED(taken_over)
      :: else -> REACHED(run_again)
      fi;
      claim(k); record[k].request = request; beginRun(k); next = VERIFY
    :: else -> bury(k); REACHED(exhausted)
    fi
  fi
}

/* take: one store operation. A known key is answered from its record and from nothing else. */
inline take() {
  if
  :: record[k].superseded -> k = OTHER(k)
  :: !record[k].superseded && UNSENT_YET(k) && WINDOW_IN_TAKE && tooLate[k] -> refuseWindow(k)
  :: !record[k].superseded && UNSENT_YET(k) && !(WINDOW_IN_TAKE && tooLate[k]) -> takeUnsent()
  :: !record[k].superseded && record[k].money == NONE && WORKING(k) -> sayWait()
  :: record[k].work == DEAD || record[k].money == REFUSED -> sayPayable()
  :: record[k].money == REVERSED -> next = END; REACHED(said_reversed)
  :: IN_FLIGHT(k) && !IS_UNKNOWN(k) -> sayWait()
  :: IS_UNKNOWN(k) || record[k].money == SETTLED ->
    if
    :: record[k].request != request -> sayWait(); REACHED(used_elsewhere)
    :: record[k].request == request && BROKEN == PAYABLE_UNKNOWN && IS_UNKNOWN(k) -> sayPayable()
    :: record[k].request == request && BROKEN == DELIVER_UNKNOWN && IS_UNKNOWN(k) -> next = HAND
    :: record[k].request == request && BROKEN != PAYABLE_UNKNOWN && BROKEN != DELIVER_UNKNOWN && IS_UNKNOWN(k) ->
      target = k; next = (LOOKUP -> LOOK : RESEND)
    :: else -> next = (record[k].kept -> HAND : END)
    fi
  fi
}

inline keepAndBeginSend() {
  executing[me] = 0;
  if
  :: MINE(k) && record[k].work == RUNNING && record[k].money == NONE && !record[k].superseded ->
    record[k].work = DONE; record[k].kept = (BROKEN != KEEP_AFTER_SEND); beginSend(k, PAY); next = CALL
  :: else -> sayWait(); REACHED(stale_owner_stopped)
  fi
}

/* The handler failed: unmoved. The last allowed failure invites a new payment. */
inline fail() {
  executing[me] = 0;
  if
  :: MINE(k) && record[k].work == RUNNING && RUNNABLE(k) -> record[k].work = FAILED; letGo(k); next = END
  :: MINE(k) && record[k].work == RUNNING && !RUNNABLE(k) -> bury(k)
  :: else -> sayWait()
  fi
}

/* Verify refused: never sent and, if it never ran either, nothing of it stays (design 3, retention). */
inline release() {
  executing[me] = 0;
  if
  :: MINE(k) && record[k].work == RUNNING && record[k].money == NONE ->
    sayPayable(); record[k].attempts--; record[k].work = FAILED; letGo(k);
    forgetIfNeverRun(k); REACHED(released)
  :: else -> sayWait()
  fi
}

/* Verify says that the nonce is used, nothing of it was sent, and the chain agrees (attack S06). */
inline spentBefore() {
  executing[me] = 0;
  if
  :: record[k].money == NONE && record[k].exists ->
    record[k].money = REFUSED; record[k].proven = 1; record[k].kept = 0; letGo(k); REACHED(spent_before)
  :: else -> skip
  fi;
  next = END
}

inline afterWrite() {
  if
  :: record[k].money == SETTLED && BROKEN == KEEP_AFTER_SEND && heard == OK -> record[k].kept = 1; next = HAND
  :: record[k].money == SETTLED && BROKEN != KEEP_AFTER_SEND -> next = HAND
  :: record[k].money == REFUSED -> sayPayable()
  :: IN_FLIGHT(k) -> sayUnknown()
  :: else -> next = END
  fi
}

proctype Seller(byte me) {
  byte k, target, fence, n, seen;
  bit request, looked, written, checking;
  mtype next, sent, heard;
end_idle:
  do
  :: atomic { MY_TURN && ARRIVES -> arrives() };
    do
    :: d_step { STEP(CHECK); checkFirst() }
    :: d_step { STEP(TAKE); take(); DID(take, 1) }
    :: d_step { STEP(VERIFY); next = START }
    :: d_step { SPENT_EARLY && chain[k] == CANCELED && STEP(VERIFY); spentBefore(); DID(proof, 13) }
#if KEYS == 1
    :: d_step { STEP(VERIFY); release(); DID(release, 2) }   /* with two payments verify always passes: a smaller search */
#endif
    :: d_step { STEP(START); startHandler() }
    :: d_step { STEP(WORK); keepAndBeginSend(); DID(keepAndBeginSend, 3) }
    :: d_step { HANDLER_FAILS && STEP(WORK); fail(); DID(fail, 4) }
#if BROKEN == RELEASE_ON_LEAVE
    :: d_step { MINE(k) && record[k].work == RUNNING && STEP(WORK); record[k].attempts = 0; forgetIfNeverRun(k); letGo(k) }
#endif
    :: atomic { STEP(CALL); callFacilitator(k); told[k] = told[k] || TOLD_TOO_EARLY(k); next = WRITE }
    :: d_step { STEP(WRITE); writeAnswer(); afterWrite(); heard = 0; DID(answer, 5) }
    :: d_step { STEP(LOOK); lookUp() }
    :: d_step { STEP(NOTE); noteChain(); DID(proof, 13) }
    :: d_step { STEP(RESEND); beginResend(k); DID(beginSend, 7) }
    :: atomic { STEP(HAND); handOver() }
    :: d_step { STEP(MARK); mark(); DID(deliver, 8) }
    :: d_step { STEP(END); done() };
progress_answered:
       break
    :: d_step { crashes > 0 && next != END && next != FIRST_STEP -> KILLED; killed() }
    od
  od
}
