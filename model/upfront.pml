/* Flow `upfront`: take and begin the send, in one operation -> settled -> work -> deliver (design 3). */
#include "config.pml"
#include "transitions.pml"
#include "laws.pml"
#define FLOW UPFRONT
#define WHEN_OK(what) SETTLED
#define WHEN_NO(what) REFUSED
#define BEFORE(what) NONE
#define KEPT_BEFORE(what) false
#define RUNS_UNPAID false
#define GATE(k) (record[k].money == SETTLED)
#define WILL_RUN_OR_IS_OWED(k) (record[k].work == IDLE || record[k].work == FAILED || record[k].work == RUNNING)
#include "record.pml"
#include "world.pml"
#define WORKING(k)    (record[k].work == RUNNING && !TAKEABLE(k))   /* unpaid: a run of another flow */
#define UNSENT_YET(k) (!record[k].exists || (record[k].money == NONE && record[k].work != DEAD && !WORKING(k)))
#include "seller.pml"

#define OWNED(k)      (record[k].work == RUNNING -> !TAKEABLE(k) : record[k].lease > 0)

/* A payment of which no byte has left: the send begins, or it is declared dead, or another stands before it. */
inline takeUnsent() {
  if
  :: RULE_IN_TAKE && UNRESOLVED(k) ->
    shutOut(k); target = OTHER(k); next = (LOOKUP && !looked -> LOOK : END); REACHED(blocked_by_other)
  :: RULE_IN_TAKE && !UNRESOLVED(k) && UNDELIVERED(k) ->
    supersede(k)
  :: else ->
    if
    :: RUNNABLE(k) -> claim(k); record[k].request = request; record[k].work = IDLE; beginSend(k, PAY); next = CALL
    :: else -> bury(k)
    fi
  fi
}

/* Money has moved: its work is done, runs, may run, or is owed until an operator closes it. */
inline takePaid() {
  if
  :: record[k].work == DONE -> next = (record[k].kept -> HAND : END)
  :: record[k].work != DONE && OWNED(k) -> sayWait()
  :: record[k].work != DONE && !OWNED(k) && RUNNABLE(k) ->
    if
    :: record[k].work == RUNNING -> REACHED(taken_over)
    :: else -> REACHED(run_again)
    fi;
    own(k); beginRun(k); next = START
  :: else -> record[k].work = FAILED; letGo(k); next = END; REACHED(said_owed)
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
    :: record[k].request == request && record[k].money == SETTLED -> takePaid()
    :: record[k].request == request && BROKEN == PAYABLE_UNKNOWN && IS_UNKNOWN(k) -> sayPayable()
    :: else -> target = k; next = (LOOKUP -> LOOK : RESEND)
    fi
  fi
}

/* startWork: knowing that the money is there gives no right to run; only the newest owner has it. */
inline startWork() {
  if
  :: (MINE(k) || BROKEN == START_WITHOUT_CLAIM) && PASSED(k) && RUNNABLE(k) && (record[k].work == IDLE || record[k].work == FAILED) ->
    beginRun(k); record[k].lease = 2; next = START
#if BROKEN == START_WITHOUT_CLAIM
  :: !MINE(k) && !(PASSED(k) && RUNNABLE(k) && (record[k].work == IDLE || record[k].work == FAILED)) -> beginRun(k); next = START
#endif
  :: else -> next = TAKE; REACHED(start_refused)
  fi
}

inline finish() {
  executing[me] = 0;
  if
  :: MINE(k) && record[k].work == RUNNING && PASSED(k) ->
    record[k].work = DONE; record[k].kept = 1; record[k].lease = 2; next = HAND
  :: else -> sayWait(); REACHED(stale_owner_stopped)
  fi
}

/* The handler failed: moved and owed. It may run again on the same payment. */
inline fail() {
  executing[me] = 0;
  if
  :: MINE(k) && record[k].work == RUNNING -> record[k].work = FAILED; letGo(k); next = END
  :: else -> sayWait()
  fi
}

inline afterWrite() {
  if
  :: checking -> next = (PASSED(k) -> MARK : END)   /* sent unasked: nobody is there to be answered */
  :: !checking && record[k].money == SETTLED -> next = BEGIN
  :: !checking && record[k].money == REFUSED -> sayPayable()
  :: !checking && IN_FLIGHT(k) -> sayUnknown()
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
    :: atomic { STEP(CALL); callFacilitator(k); told[k] = told[k] || TOLD_TOO_EARLY(k); next = WRITE }
    :: d_step { STEP(WRITE); writeAnswer(); afterWrite(); heard = 0; DID(answer, 5) }
    :: d_step { STEP(BEGIN); startWork(); DID(startWork, 6) }
    :: d_step { STEP(START); startHandler() }
    :: d_step { STEP(WORK); finish(); DID(finish, 11) }
    :: d_step { HANDLER_FAILS && STEP(WORK); fail(); DID(fail, 4) }
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
