/* One seller process: it serves one request after the other and may be killed between any two steps.
 * `next` is the step it does next; each flow's own file has the table of steps. What a step does to the
 * store is one d_step. This file has the steps that every flow shares. */

mtype = { CHECK, TAKE, VERIFY, WORK, BEGIN, CALL, WRITE, START, CLOSE, LOOK, NOTE, RESEND, HAND, MARK, END };

/* I2: on the chain, unless a lying facilitator is believed (design 9.11); what was seen may be reorganised away. */
/* A settlement that was believed when the answer was decided may be refuted before it has left. */
#define OVERTAKEN(k)   (record[k].proven && (record[k].money == REVERSED || record[k].money == REFUSED))
#define MAY_DELIVER(k) (OVERTAKEN(k) || GATE(k) && ((LIES && !GATE_LOOKUP) || REORGS || MONEY_IS_OURS(k)))

/* A request arrives: a copy of a payment, and the request it is presented with. Idle sellers are alike, so
 * the first idle one gets it: the others' turns would be the same search once more. */
#define MY_TURN ((me == 0 || serving[0]) && (me <= 1 || serving[1]))
#define ARRIVES (left[0] > 0 || left[KEYS - 1] > 0 || (rechecks > 0 && record[0].exists))
inline arrives() {
  next = FIRST_STEP;
  if
  :: left[0] > 0 -> left[0]--; k = 0
  :: rechecks > 0 && record[0].exists -> rechecks--; checking = 1; target = 0; k = 0; next = LOOK
#if KEYS == 2
  :: left[1] > 0 && left[0] < COPIES -> left[1]--; k = 1
#endif
  fi;
#if REQUESTS == 2
  if
  :: request = 0
  :: request = 1
  fi;
#endif
  serving[me] = 1
}

/* Only in the variants that look before they take. */
inline checkFirst() {
  if
  :: BROKEN == CHECK_THEN_TAKE && UNSENT_YET(k) && (UNRESOLVED(k) || UNDELIVERED(k)) -> next = END
  :: BROKEN == WINDOW_THEN_TAKE && UNSENT_YET(k) && tooLate[k] -> buried[k] = 1; sayPayable()
  :: else -> next = TAKE
  fi
}

/* The three answers without goods. */
inline sayPayable() {
  LAW(I3, !IN_FLIGHT(k) && !PASSED(k) && (LIES || (!MONEY_IS_OURS(k) && !flying[k])));
  next = END; REACHED(said_payable)
}
inline sayUnknown() { told[k] = (KEYS == 2); next = END; REACHED(said_unknown) }
inline sayWait() { next = END; REACHED(said_wait) }

/* The handler begins only under a lease that this process still believes in: verify or a settle may have
 * taken longer than that, and the abort signal has fired. */
inline startHandler() {
#if BROKEN == LEASE_FROM_ANSWER
  executing[me] = k + 1; LAW(I1, ONLY_ME(k));
#endif
  if
  :: executing[me] == k + 1 ->
    LAW(I2, RUNS_UNPAID || MAY_DELIVER(k));
    runs[k]++; LAW(S1, runs[k] <= MAX_ATTEMPTS); next = WORK
  :: else -> next = END; REACHED(aborted_before_start)
  fi
}

#if BROKEN == SAY_BEFORE_WRITE
#define TOLD_TOO_EARLY(k) (heard == LOST && KEYS == 2)
#else
#define TOLD_TOO_EARLY(k) false
#endif

/* What the seller heard goes into the record, then decides the answer. */
inline writeAnswer() {
  if
  :: GATE_LOOKUP && heard == OK && !HAPPENED(k, sent) -> heard = LOST; REACHED(lie_found)
  :: else -> skip
  fi;
  recordAnswer(k); n = 0; sent = 0
}

/* One look-up; afterwards the key is taken again, or the same bytes are sent again. */
inline lookUp() { seen = CHAIN_SAYS(target); next = NOTE }
inline noteChain() {
  recordChain(target, seen);
  if
  :: checking && record[target].money == SETTLED && record[target].proven && (seen == EXPIRED || seen == CANCELED) ->
    record[target].money = REVERSED; record[target].kept = 0; letGo(target); REACHED(reversed)
  :: else -> skip
  fi;
  if
  :: checking && FLOW == UPFRONT && IS_UNKNOWN(target) -> next = RESEND   /* unasked: the reconciler sends again */
  :: checking && !(FLOW == UPFRONT && IS_UNKNOWN(target)) -> next = END
  :: !checking && target == k && IS_UNKNOWN(k) -> next = RESEND
  :: else -> next = TAKE
  fi;
  looked = 1; seen = 0; target = 0
}

/* The answer goes over the wire; then the record learns of it, or of a client that has left. */
inline handOver() {
  LAW(I2, MAY_DELIVER(k));
  LAW(S2, record[k].request == request);
  if
  :: written = 1
  :: written = 0; REACHED(client_left)
  fi;
  next = MARK
}
inline mark() {
  if
  :: written && PASSED(k) -> record[k].handed = 1; letGo(k); REACHED(delivered)
  :: !written && !record[k].handed && record[k].work != RUNNING && record[k].money != SENDING -> letGo(k)
  :: else -> skip
  fi;
  next = END
}

inline killed() {
  crashes--; executing[me] = 0; next = END;
  if
  :: RESET_IS_TOLD && record[k].owner == me + 1 -> told[k] = 1
  :: else -> skip
  fi
}
inline done() {
  serving[me] = 0; executing[me] = 0;
  k = 0; target = 0; request = 0; fence = 0; n = 0; sent = 0; heard = 0; seen = 0; looked = 0; written = 0; checking = 0; next = 0
}
