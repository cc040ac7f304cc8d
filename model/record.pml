/* The record of one payment key, and the store operations that all flows share (design 3, 5, 9).
 * Two axes, money and work; owner, fence and lease; attempts; the kept answer.
 * Every store operation is one d_step: what is in one d_step here must be one transaction, one Lua
 * script or one synchronous section in a real store. */

mtype = { NONE, SENDING, UNKNOWN, HELD, SETTLED, REFUSED, VOIDED, REVERSED };  /* money */
mtype = { IDLE, RUNNING, DONE, FAILED, DEAD };                                /* work */
mtype = { PAY, CHARGE, VOID };                                                /* phase; PAY is escrow's deposit */
mtype = { UNUSED, LANDED, CANCELED, EXPIRED, CHARGED, RETURNED, RECLAIMED };   /* the chain's word, see world.pml */
mtype = { OK, NO, LOST, UNSENT };                                             /* what a send was answered */

typedef Record {
  bit exists;
  bit request;       /* which of two requests this payment buys */
  mtype money;
  mtype phase;       /* of the newest send */
  byte sends;        /* sends begun in this phase = the number of the newest */
  bit proven;        /* rank of the evidence of settled, refused, voided: 1 chain, 0 facilitator or none */
  bit doubted;       /* the money has been unknown once: somebody was told 503, or died */
  mtype work;
  byte attempts;     /* handler runs begun */
  byte owner;        /* seller + 1, or 0 */
  byte fence;
  byte lease;        /* 2 valid, 1 over (grace runs), 0 over and grace over */
  bit kept;          /* the answer (in escrow with its metering) is durable */
  bit streamed;      /* escrow: bytes of the answer have left while the work ran */
  bit handed;        /* one complete write of the answer is on record */
  bit served;        /* a newer payment is answered from this one */
  bit superseded     /* answered from the other payment for ever after, never sent */
};

Record record[KEYS];

/* Ghosts: what really happened. No seller reads them. */
byte executing[SELLERS];   /* key + 1 while a handler runs here and believes in its lease */
byte runs[KEYS];           /* handler starts, over all records a key ever had */
bit buried[KEYS];          /* a buyer was told that this payment is dead and was never sent */
bit told[KEYS];            /* a buyer was told 503 for this payment (with RESET_IS_TOLD: or saw a reset) */
bit again[KEYS];           /* this payment was claimed after that was said of the other one */

#define IN_FLIGHT(k)    (record[k].money == SENDING || record[k].money == UNKNOWN)
#define IS_UNKNOWN(k)   (record[k].money == UNKNOWN || (record[k].money == SENDING && record[k].lease < 2))
#define PASSED(k)       (record[k].money == SETTLED || record[k].money == HELD)
#define TERMINAL(k)     (record[k].money == REFUSED || record[k].money == VOIDED || record[k].money == REVERSED || \
                        record[k].work == DEAD)
#define RUNNABLE(k)     (record[k].attempts < MAX_ATTEMPTS)
#if BROKEN == NO_FENCE
#define MINE(k)         true
#else
#define MINE(k)         (record[k].owner == me + 1 && record[k].fence + 1 == fence)
#endif
#if BROKEN == NO_GRACE
#define TAKEABLE(k)     (record[k].lease < 2)
#else
#define TAKEABLE(k)     (record[k].lease == 0)
#endif

#if SELLERS == 3
#define ONLY_ME(k) (executing[(me + 1) % 3] != k + 1 && executing[(me + 2) % 3] != k + 1)
#else
#define ONLY_ME(k) (executing[1 - me] != k + 1)
#endif

/* The earlier-payment rule (design 3; 9.1, 9.5): what the other payment of this buyer for this request
 * says to one that has not been sent yet. */
#if KEYS == 2
#define OTHER(k)        (1 - k)
#if BROKEN == OLDER_ONLY_BLOCKS
byte oldest;               /* key + 1 of the record that was made first */
#define LOOKED_AT(k)    (oldest == OTHER(k) + 1)
#define MAKE(k)         oldest = (oldest == 0 -> k + 1 : oldest)
#else
#define LOOKED_AT(k)    record[OTHER(k)].exists
#define MAKE(k)         skip
#endif
#if BROKEN == UNKNOWN_ONLY_BLOCKS
#define DOUBTED(k)      false
#else
#define DOUBTED(k)      record[k].doubted
#endif
#if BROKEN == SERVED_IS_DELIVERED
#define GIVEN_AWAY(k)   record[k].served
#else
#define GIVEN_AWAY(k)   false
#endif
#define CLOSING(k)      (record[k].money == HELD && (record[k].phase == VOID || record[k].work == FAILED || late[k]))
#define UNRESOLVED(k)   (LOOKED_AT(k) && (IS_UNKNOWN(OTHER(k)) || CLOSING(OTHER(k)) || \
                        (record[OTHER(k)].money == SENDING && DOUBTED(OTHER(k)))))
#define UNDELIVERED(k)  (LOOKED_AT(k) && PASSED(OTHER(k)) && !record[OTHER(k)].handed && !GIVEN_AWAY(OTHER(k)) && \
                        (record[OTHER(k)].lease < 2 || DOUBTED(OTHER(k))))
#define STILL_OPEN(k)   (IN_FLIGHT(k) || (PASSED(k) && !record[k].handed))
#else
#define OTHER(k)        k
#define MAKE(k)         skip
#define UNRESOLVED(k)   false
#define UNDELIVERED(k)  false
#define STILL_OPEN(k)   false
#endif

inline letGo(k) { record[k].owner = 0; record[k].lease = 0 }

/* A new owner. `fence` is what the seller remembers of it, one more than the record's, 0 for no hold. With
 * NUMBERED_FENCES 0 the number stands still: a seller serves one request at a time and forgets its hold when
 * it is killed, so "I was given a hold and the owner is still me" says the same with far fewer states. */
inline own(k) {
  record[k].owner = me + 1; record[k].fence = record[k].fence + NUMBERED_FENCES; record[k].lease = 2;
  fence = record[k].fence + 1; OWNED_ANEW
}

/* Part of take: this seller may do the work and send the money. */
inline claim(k) {
  LAW(I6, !UNRESOLVED(k) && !UNDELIVERED(k));
  MAKE(k); record[k].exists = 1; own(k);
  again[k] = again[k] || told[OTHER(k)]
}

/* Part of take: never sent; answered from the other payment for ever after. */
inline supersede(k) {
  shutOut(k); record[k].exists = 1; record[k].superseded = 1; record[OTHER(k)].served = 1; REACHED(superseded)
}

/* Part of take: whatever an earlier owner of this key still wants to do, it is too late. */
inline shutOut(k) { record[k].fence = record[k].fence + NUMBERED_FENCES; letGo(k) }

/* Part of take or start: the right to run the handler once more. */
inline beginRun(k) {
  record[k].work = RUNNING; record[k].attempts++; executing[me] = k + 1;
  LAW(I1, ONLY_ME(k))
}

inline forgetIfNeverRun(k) {
  if
  :: record[k].attempts == 0 && ANOTHER_FLOW -> record[k].work = IDLE   /* its log remembers a send that never left */
  :: record[k].attempts == 0 && !ANOTHER_FLOW -> record[k].exists = 0; record[k].work = IDLE; record[k].fence = 0; record[k].request = 0
  :: else -> skip
  fi
}

/* "This payment is dead, it was never sent, pay anew": written before it is said. */
inline bury(k) {
#if BROKEN != DEAD_IS_A_VIEW
  record[k].work = DEAD; shutOut(k);
#endif
  buried[k] = 1; sayPayable()
}

/* The window is over for a payment that was not sent. Judged within take, on the store's clock, which only
 * goes on: whoever passes it in time begins the send in that same step. */
inline refuseWindow(k) {
  if
  :: record[k].exists -> bury(k)
  :: else -> buried[k] = 1; sayPayable()
  fi;
  REACHED(said_expired)
}

/* Part of an operation that has checked its guard: the next bytes may leave when this is durable. */
inline beginSend(k, what) {
  LAW(I5, !TERMINAL(k) && !buried[k]);
  LAW(S3, what != PAY || !again[k] || !STILL_OPEN(OTHER(k)));
  LAW(I7, !KEPT_BEFORE(what) || record[k].kept);
  record[k].sends = (record[k].phase == what -> record[k].sends + 1 : 1);
  record[k].phase = what; record[k].money = SENDING; record[k].lease = 2;
  n = record[k].sends; sent = what
}

/* unknown -> sending(n + 1), the identical bytes, compared with the record as it is now. */
#if BROKEN == RESEND_WITHOUT_CAS
#define MAY_RESEND(k) true
#else
#define MAY_RESEND(k) IS_UNKNOWN(k)
#endif
inline beginResend(k) {
  if
  :: MAY_RESEND(k) && record[k].sends < MAX_SENDS ->
    own(k); record[k].doubted = 1; beginSend(k, record[k].phase); next = CALL; REACHED(sent_again)
  :: IS_UNKNOWN(k) && record[k].sends == MAX_SENDS -> sayUnknown()
  :: else -> next = (checking -> END : TAKE)
  fi
}

/* A refusal of the first and only send of a payment is final. That of a re-send, or one that comes
 * late while a re-send is out, proves nothing: the other bytes may land. */
#if BROKEN == LATE_REFUSAL
#define REFUSAL_COUNTS(k) true
#else
#define REFUSAL_COUNTS(k) (record[k].sends == n && (sent != PAY || n == 1))
#endif

#if BROKEN == LOST_IS_REFUSED
#define IS_NO (heard == NO || heard == LOST)
#else
#define IS_NO (heard == NO)
#endif

/* "Not a byte has left" returns to none, so only the sender may say it, of the first send, and before its
 * lease is over: from then on others have seen an unknown and act on it. */
#if BROKEN == UNSENT_AFTER_LEASE
#define STILL_MINE(k) MINE(k)
#else
#define STILL_MINE(k) (MINE(k) && record[k].lease == 2)
#endif

/* A send whose lease is over was read as unknown, and somebody may have been told so: doubt is sticky. */
#define DOUBT_IF_UNKNOWN(k) record[k].doubted = record[k].doubted || IS_UNKNOWN(k)

/* recordMoney with the facilitator's evidence: no fence, but it names its phase and its send. */
inline recordAnswer(k) {
  if
  :: heard == OK && IN_FLIGHT(k) && record[k].phase == sent ->
    DOUBT_IF_UNKNOWN(k); record[k].money = WHEN_OK(sent); record[k].proven = 0
  :: IS_NO && IN_FLIGHT(k) && record[k].phase == sent && REFUSAL_COUNTS(k) ->
    DOUBT_IF_UNKNOWN(k); record[k].money = WHEN_NO(sent); record[k].proven = 0; letGo(k)
  :: heard == UNSENT && record[k].money == SENDING && n == 1 && record[k].sends == 1 && STILL_MINE(k) ->
    record[k].money = BEFORE(sent); record[k].sends = 0; letGo(k); REACHED(taken_back)
  :: else ->
    if
    :: heard != OK && record[k].money == SENDING && record[k].phase == sent && record[k].sends == n ->
      record[k].money = UNKNOWN; record[k].doubted = 1; letGo(k)
    :: else -> skip
    fi
  fi
}
