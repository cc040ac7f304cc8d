/* The laws. A law that does not hold prints `violated: <name>` and stops the search. A state that the
 * model must be able to reach prints `reached: <name>` once, so that a law about nothing is noticed.
 * Both run inside the verifier (c_code), cost no state, and are read by run.ts.
 *
 * I1..I7 are those of design section 3. Four more are named here:
 * ONE  the deposit of one payment is charged at most once
 * S1   the handler starts at most MAX_ATTEMPTS times per payment
 * S2   an answer goes only to the request that the payment bought
 * S3   who was told 503 and pays anew for the same request is not charged again */

mtype = { I1, I2, I3, I4, I5, I6, I7, ONE, S1, S2, S3 };

/* With -DONLY=I3 no other law is judged: a broken variant must fail for the law it is named for. */
#ifdef ONLY
#define JUDGED(name) (name == ONLY)
#else
#define JUDGED(name) true
#endif

#define LAW(name, holds) \
  if \
  :: !JUDGED(name) || (holds) -> skip \
  :: else -> c_code { printf("violated: %s\n", #name); }; assert(false) \
  fi

#define REACHED(name) c_code { static int seen_##name; if (!seen_##name) { seen_##name = 1; printf("reached: %s\n", #name); } }

/* A counterexample is replayed by the verifier (run.ts --trail): each step says who does what, and how the
 * record stood before it. Nothing is printed during a search, and no state is added. */
c_code {
  static void tell_record(int k) {
    Printf(" | money "); printm(now.record[k].money, 0);
    if (now.record[k].sends) { Printf(" of "); printm(now.record[k].phase, 0); Printf(" %d", now.record[k].sends); }
    Printf(", work "); printm(now.record[k].work, 0); Printf(" attempt %d", now.record[k].attempts);
    Printf(", owner %d fence %d lease %d", now.record[k].owner, now.record[k].fence, now.record[k].lease);
    Printf(" | chain "); printm(now.chain[k], 0);
    Printf("%s\n", now.flying[k] ? ", bytes in flight" : "");
  }
  static void tell_seller(const char *step, int seller, int k, int heard) {
    Printf("  seller %d %-6s payment %d", seller + 1, step, k);
    if (heard) { Printf(" heard "); printm(heard, 0); }
    tell_record(k);
  }
  static void tell_world(const char *event, int k) {
    Printf("  %-15s payment %d", event, k); tell_record(k);
  }
}
#define STEP(name) next == name -> c_code { tell_seller(#name, PSeller->me, PSeller->k, PSeller->heard); REMEMBER }
#define EVENT(text) c_code { tell_world(text, PWorld->k); REMEMBER }
#define KILLED c_code { tell_seller("KILLED", PSeller->me, PSeller->k, 0); }
