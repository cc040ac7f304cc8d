/* What the operations of the model may do to a record, as data: with -DTRANSITIONS the verifier prints each pair
 * (record before, record after) of each operation once. transitions.ts reads them, and the simulator holds every
 * change of a real record against them. Only what is printed here is compared; see README, "The model as data".
 *
 * An operation that is one step here and several in the code, or the other way round, is named as the code calls the
 * store: NAMED(beginSend) inside TAKE is the first send of a kept answer. Without -DTRANSITIONS nothing of it is there. */

#ifdef TRANSITIONS
c_code {
  static unsigned long was[2];
  static int asked[2];
  static int owned_anew[2];
  static const char *named;
  static unsigned long long seen_pairs[1 << 18];

  static unsigned long code_of(int k) {
    unsigned long code = now.record[k].money;
    code = code << 5 | now.record[k].phase;
    code = code << 2 | (now.record[k].sends > 3 ? 3 : now.record[k].sends);
    code = code << 5 | now.record[k].work;
    code = code << 2 | now.record[k].attempts;
    code = code << 2 | now.record[k].lease;
    code = code << 1 | (now.record[k].owner != 0);
    code = code << 1 | now.record[k].kept;
    code = code << 1 | now.record[k].proven;
    code = code << 1 | now.record[k].doubted;
    code = code << 1 | now.record[k].handed;
    code = code << 1 | now.record[k].superseded;
    return code << 1 | now.record[k].exists;
  }
  static void remember(void) {
    int k;
    named = 0;
    for (k = 0; k < KEYS; k++) {
      was[k] = code_of(k); asked[k] = now.record[k].request; owned_anew[k] = 0;
    }
  }
  static int is_new(unsigned long long pair) {
    unsigned long long at = pair * 0x9E3779B97F4A7C15ULL >> 46;
    for (; seen_pairs[at]; at = (at + 1) & ((1 << 18) - 1)) if (seen_pairs[at] == pair) return 0;
    seen_pairs[at] = pair;
    return 1;
  }
  static void did(const char *step, int number) {
    int k;
    for (k = 0; k < KEYS; k++) {
      unsigned long after = code_of(k);
      int other = (was[k] & after & 1) && asked[k] != now.record[k].request;
      unsigned long long pair = (unsigned long long) was[k] << 31 ^ after;
      if (was[k] == after && !owned_anew[k]) continue;
      pair = (((pair << 1 | owned_anew[k]) << 1 | other) << 1 | (named != 0)) * 31 + number;
      if (is_new(pair)) printf("transition: %s %lu %lu %d %d\n", named ? named : step, was[k], after, owned_anew[k], other);
    }
  }
}
#define REMEMBER remember();
#define DID(operation, number) c_code { did(#operation, number); }
#define NAMED(operation) c_code { named = #operation; }
#define OWNED_ANEW c_code { owned_anew[PSeller->k] = 1; }
#else
#define REMEMBER
#define DID(operation, number) skip
#define NAMED(operation) skip
#define OWNED_ANEW skip
#endif
