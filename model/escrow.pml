/* Flow `escrow`: take and begin the deposit -> held -> work (a stream may flow) -> keep the answer with its
 * metering and begin the charge, in one operation -> settled -> deliver; a failed work is voided (design 3). */
#include "config.pml"
#include "transitions.pml"
#include "laws.pml"
#define FLOW ESCROW
#define WHEN_OK(what) (what == PAY -> HELD : (what == CHARGE -> SETTLED : VOIDED))
#define WHEN_NO(what) (what == PAY -> REFUSED : HELD)
#define BEFORE(what) (what == PAY -> NONE : HELD)
#define KEPT_BEFORE(what) (what == CHARGE)           /* I7 */
#define RUNS_UNPAID false
#define GATE(k) PASSED(k)
#define WILL_RUN_OR_IS_OWED(k) (record[k].money == HELD)   /* will be run, charged or voided: nothing is taken yet */
#include "record.pml"
#include "world.pml"
#define UNSENT_YET(k) (!record[k].exists || (record[k].money == NONE && record[k].work != DEAD))
#include "seller.pml"

#define OWNED(k)      (record[k].work == RUNNING -> !TAKEABLE(k) : record[k].lease > 0)
#define MORE_SENDS(k, what) (record[k].phase != what || record[k].sends < MAX_SENDS)

/* A deposit of which no byte has left: its send begins, or it is declared dead, or another stands before it. */
inline takeUnsent() {
  if
  :: RULE_IN_TAKE && UNRESOLVED(k) ->
    shutOut(k); target = OTHER(k); next = (LOOKUP && !looked -> LOOK : END); REACHED(blocked_by_other)
  :: RULE_IN_TAKE && !UNRESOLVED(k) && UNDELIVERED(k) ->
    supersede(k)
  :: else ->
    claim(k); record[k].request = request; beginSend(k, PAY); next = CALL
  fi
}

/* Nobody can run this deposit's work any more: what was streamed is charged, anything else is given back.
 * Beginning a void is a one-way door: its bytes may land after a look-up has said "still deposited". */
inline close() {
  executing[me] = 0;
  if
  :: record[k].streamed && MORE_SENDS(k, CHARGE) ->
    own(k); record[k].work = DONE; record[k].kept = 1; beginSend(k, CHARGE); next = CALL; REACHED(partial_charged)
  :: !record[k].streamed && MORE_SENDS(k, VOID) ->
    own(k); record[k].work = FAILED; beginSend(k, VOID); next = CALL; REACHED(void_begun)
  :: else -> letGo(k); next = END
  fi
}

#if BROKEN == VOID_IS_NOT_FINAL
#define MAY_RUN(k) (RUNNABLE(k) && !late[k] && !record[k].streamed)
#else
#define MAY_RUN(k) (RUNNABLE(k) && !late[k] && !record[k].streamed && record[k].phase == PAY && record[k].work != FAILED)
#endif

/* The deposit is held and nobody owns it: it is charged, run, or closed. The janitor does the same. */
inline takeHeld() {
  if
  :: record[k].work == DONE && MORE_SENDS(k, CHARGE) -> own(k); beginSend(k, CHARGE); next = CALL; REACHED(charged_by_another)
  :: record[k].work == DONE && !MORE_SENDS(k, CHARGE) -> sayWait()
  :: record[k].work != DONE && MAY_RUN(k) ->
    if
    :: record[k].work == RUNNING -> REACHED(taken_over)
    :: else -> REACHED(run_again)
    fi;
    own(k); beginRun(k); next = START
  :: else -> close()
  fi
}

/* take: one store operation. A known key is answered from its record and from nothing else. */
inline take() {
  if
  :: record[k].superseded -> k = OTHER(k)
  :: !record[k].superseded && UNSENT_YET(k) && WINDOW_IN_TAKE && tooLate[k] -> refuseWindow(k)
  :: !record[k].superseded && UNSENT_YET(k) && !(WINDOW_IN_TAKE && tooLate[k]) -> takeUnsent()
  :: record[k].work == DEAD || record[k].money == REFUSED || record[k].money == VOIDED -> sayPayable()
  :: IN_FLIGHT(k) && !IS_UNKNOWN(k) -> sayWait()
  :: IS_UNKNOWN(k) || PASSED(k) ->
    if
    :: record[k].request != request -> sayWait(); REACHED(used_elsewhere)
    :: record[k].request == request && record[k].money == SETTLED -> next = (record[k].kept -> HAND : END)
    :: record[k].request == request && record[k].money == HELD && OWNED(k) -> sayWait()
    :: record[k].request == request && record[k].money == HELD && !OWNED(k) -> takeHeld()
    :: record[k].request == request && BROKEN == PAYABLE_UNKNOWN && IS_UNKNOWN(k) -> sayPayable()
    :: else -> target = k; next = (LOOKUP -> LOOK : RESEND)
    fi
  fi
}

/* startWork: knowing that the deposit is held gives no right to run; only the newest owner has it. */
inline startWork() {
  if
  :: MINE(k) && record[k].money == HELD && record[k].work == IDLE && MAY_RUN(k) ->
    beginRun(k); record[k].lease = 2; next = START
#if BROKEN == START_WITHOUT_CLAIM
  :: !(MINE(k) && record[k].money == HELD && record[k].work == IDLE && MAY_RUN(k)) -> beginRun(k); next = START
#endif
  :: else -> next = TAKE; REACHED(start_refused)
  fi
}

/* A part of the answer: on the spool first, then on the wire. The fence alone is not enough: nobody may have
 * taken over since a frozen owner's lease, and the deadline of the deposit may have passed. */
#if BROKEN == SPOOL_AFTER_LEASE
#define MAY_STREAM(k) MINE(k)
#else
#define MAY_STREAM(k) (MINE(k) && record[k].lease == 2)
#endif
inline stream() {
  if
  :: MAY_STREAM(k) && record[k].work == RUNNING -> LAW(I2, MAY_DELIVER(k)); record[k].streamed = 1; REACHED(streamed)
  :: else -> sayWait(); executing[me] = 0; REACHED(stale_stream_stopped)
  fi
}

/* The answer and what it costs are durable before the charge. */
inline keepAndBeginCharge() {
  executing[me] = 0;
  if
  :: MINE(k) && record[k].work == RUNNING && record[k].money == HELD ->
    record[k].work = DONE; record[k].kept = (BROKEN != KEEP_AFTER_SEND); beginSend(k, CHARGE); next = CALL
  :: else -> sayWait(); REACHED(stale_owner_stopped)
  fi
}

inline fail() {
  executing[me] = 0;
  if
  :: MINE(k) && record[k].work == RUNNING -> record[k].work = FAILED; next = CLOSE
  :: else -> sayWait()
  fi
}
inline closeMine() {
  if
  :: MINE(k) && record[k].money == HELD -> close()
  :: else -> sayWait()
  fi
}

inline afterWrite() {
  if
  :: record[k].money == HELD && record[k].phase == PAY -> next = BEGIN
  :: record[k].money == SETTLED && BROKEN == KEEP_AFTER_SEND && heard == OK -> record[k].kept = 1; next = HAND
  :: record[k].money == SETTLED && BROKEN != KEEP_AFTER_SEND -> next = HAND
  :: record[k].money == REFUSED -> sayPayable()
  :: record[k].money == VOIDED -> next = END; REACHED(voided)
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
    :: atomic { STEP(CALL); callFacilitator(k); told[k] = told[k] || TOLD_TOO_EARLY(k); next = WRITE }
    :: d_step { STEP(WRITE); writeAnswer(); afterWrite(); heard = 0; DID(answer, 5) }
    :: d_step { STEP(BEGIN); startWork(); DID(startWork, 6) }
    :: d_step { STEP(START); startHandler() }
    :: d_step { STREAMS && !record[k].streamed && STEP(WORK); stream(); DID(stream, 12) }
    :: d_step { STEP(WORK); keepAndBeginCharge(); DID(keepAndBeginSend, 3) }
    :: d_step { HANDLER_FAILS && STEP(WORK); fail(); DID(fail, 4) }
    :: d_step { STEP(CLOSE); closeMine(); DID(close, 10) }
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
