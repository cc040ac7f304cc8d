/**
 * The two functions that write, in PL/pgSQL. Both rely on one property of READ COMMITTED: inside a volatile function
 * every statement sees what was committed before that statement began (PostgreSQL manual, 13.2.1 and 38.7). So what is
 * read after the locks were taken is what the locks protect. Under a stricter level the whole function would see the
 * state before it waited, so another level is refused. Nothing here outlives the transaction: a pooler that gives each
 * transaction another connection changes nothing.
 */

/**
 * Newcomers queue for each other only where the store is this close to its capacity, so that exactly as many get in as
 * there is room for; farther away they count without waiting. More than the steps that can be under way at once.
 */
const roomMargin = 1_000;

/** Counters of one store: so many steps that change them can be under way without waiting for each other. */
export const stripes = 32;

/** A plan must not be made for a table as empty as it was when a connection first asked. */
const planning = 'SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan';

/** What the server must promise before anything is written, whatever its defaults are. */
const promises = `
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'the claim store needs the isolation level read committed' USING ERRCODE = '25000';
  END IF;
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;`;

const serverMs = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** The current time of the server, or what a test says instead. Inside a scalar subquery it is asked for once. */
export function nowSql(parameter: string): string {
  return `(SELECT coalesce(${parameter}::bigint, ${serverMs}))`;
}

/** One step (`Attempt` in `optimistic/remote.ts`): NULL where it was applied, or else what is there now. */
export function attemptFunction(schema: string): string {
  return `CREATE FUNCTION ${schema}.attempt(asked jsonb, answer bytea, payload bytea, clock bigint)
RETURNS jsonb LANGUAGE plpgsql VOLATILE ${planning} AS $attempt$
DECLARE
  writing constant boolean := jsonb_array_length(asked->'writes') > 0 OR asked ? 'blobs';
  keys constant text[] := ARRAY(SELECT jsonb_array_elements_text(asked->'keys'));
  room constant jsonb := asked->'room';
  now_ms bigint;
  step record;
  sight jsonb;
  added bigint;
  grown bigint;
BEGIN${promises}
  PERFORM set_config('lock_timeout', asked->>'waitMs', true);
  FOR step IN
    SELECT (l.value->>0)::bigint AS id, (l.value->>1)::boolean AS shared
      FROM jsonb_array_elements(asked->'locks') WITH ORDINALITY AS l ORDER BY l.ordinality
  LOOP
    IF step.shared THEN PERFORM pg_advisory_xact_lock_shared(step.id);
    ELSE PERFORM pg_advisory_xact_lock(step.id);
    END IF;
  END LOOP;
  IF writing AND room IS NOT NULL AND (
    SELECT sum(t.records) + ${roomMargin} > (room->>'records')::bigint FROM ${schema}.tally t
  ) THEN
    PERFORM pg_advisory_xact_lock((room->>'lock')::bigint);
  END IF;
  IF writing THEN
    PERFORM 1 FROM ${schema}.claims c WHERE c.key = ANY (keys) ORDER BY c.key FOR UPDATE;
  END IF;
  now_ms := ${nowSql('clock')};
${lookStatement(schema)}
  IF step.versions = asked->'versions'
    AND now_ms BETWEEN (asked->>'atMs')::bigint AND (asked->>'atMs')::bigint + (asked->>'oldestMs')::bigint
  THEN
    NULL;
  ELSE
    RETURN step.sight;
  END IF;
${writeStatements(schema)}
  RETURN NULL;
END
$attempt$`;
}

/** One statement, so that a look without locks is a look at one moment too. */
function lookStatement(schema: string): string {
  const members = (group: string, condition: string): string => `
      SELECT coalesce(jsonb_agg(m.version ORDER BY m.created_ms, m.key), '[]') AS versions,
          coalesce(jsonb_agg(jsonb_build_array(m.version, m.body) ORDER BY m.created_ms, m.key), '[]') AS found
        FROM (
          SELECT c.key, c.created_ms, c.version, c.body FROM ${schema}.claims c
            WHERE asked ? '${group}' AND ${condition}
            ORDER BY c.created_ms, c.key LIMIT (asked#>>'{${group},limit}')::bigint
        ) m`;
  return `  SELECT jsonb_build_object(
      'records', own.versions, 'older', older.versions, 'aliased', aliased.versions,
      'mustPayFirst', exposure.reached, 'full', tally.reached
    ) AS versions, jsonb_build_object(
      'nowMs', now_ms, 'records', own.found, 'older', older.found, 'aliased', aliased.found,
      'mustPayFirst', exposure.reached, 'full', tally.reached
    ) AS sight
    INTO step
    FROM (
      SELECT coalesce(jsonb_object_agg(c.key, c.version), '{}') AS versions,
          coalesce(jsonb_object_agg(c.key, jsonb_build_array(c.version, c.body)), '{}') AS found
        FROM ${schema}.claims c WHERE c.key = ANY (keys)
    ) own, (${members('older', "c.twins = asked#>>'{older,twins}' AND c.blocks_from_ms <= now_ms")}
    ) older, (${members('aliased', "c.alias = asked#>>'{aliased,alias}'")}
    ) aliased, (
      SELECT asked ? 'exposure' AND (
          (unpaid.count > 0 AND unpaid.count + open.count >= (asked#>>'{exposure,unpaid}')::bigint)
          OR open.count >= (asked#>>'{exposure,open}')::bigint
        ) AS reached
        FROM (
          SELECT count(*) FROM (
            SELECT 1 FROM ${schema}.claims c
              WHERE c.exposed = asked#>>'{exposure,payer}' AND c.open_until_ms IS NULL
              LIMIT (asked#>>'{exposure,unpaid}')::bigint
          ) few
        ) unpaid, (
          SELECT count(*) FROM (
            SELECT 1 FROM ${schema}.claims c
              WHERE c.exposed = asked#>>'{exposure,payer}' AND c.open_until_ms > now_ms
              LIMIT greatest((asked#>>'{exposure,unpaid}')::bigint, (asked#>>'{exposure,open}')::bigint)
          ) few
        ) open
    ) exposure, (
      SELECT room IS NOT NULL AND (
          sum(t.records) >= (room->>'records')::bigint OR sum(t.bytes) >= (room->>'bytes')::bigint
        ) AS reached
        FROM ${schema}.tally t WHERE room IS NOT NULL
    ) tally;`;
}

const columns = [
  'version',
  'twins',
  'flow',
  'money',
  'work',
  'lease_until_ms',
  'created_ms',
  'blocks_from_ms',
  'due_from_ms',
  'proof_from_ms',
  'forget_at_ms',
  'answer_forget_at_ms',
  'alias',
  'exposed',
  'open_until_ms',
  'body',
] as const;

function writeStatements(schema: string): string {
  const typed = columns.map((name) => `${name} ${typeOf(name)}`).join(', ');
  const set = columns.map((name) => `${name} = EXCLUDED.${name}`).join(', ');
  const blobs = ['answer', 'payload'].map((kind) => blobStatements(schema, kind)).join('');
  return `  SELECT count(*) FILTER (WHERE NOT w ? 'body') * -1
      + count(*) FILTER (WHERE w ? 'body' AND NOT step.sight->'records' ? (w->>'key'))
    INTO added
    FROM jsonb_array_elements(asked->'writes') AS w;
  DELETE FROM ${schema}.claims c
    USING jsonb_array_elements(asked->'writes') AS w WHERE c.key = w->>'key' AND NOT w ? 'body';
  INSERT INTO ${schema}.claims AS c (key, ${columns.join(', ')})
    SELECT w.key, ${columns.map((name) => `w.${name}`).join(', ')}
      FROM jsonb_to_recordset(asked->'writes') AS w(key text, ${typed}) WHERE w.body IS NOT NULL
    ON CONFLICT (key) DO UPDATE SET ${set};
  grown := 0;${blobs}
${tallyStatements(schema)}`;
}

function typeOf(column: (typeof columns)[number]): string {
  if (column === 'version') return 'uuid';
  return column.endsWith('_ms') ? 'bigint' : 'text';
}

function blobStatements(schema: string, kind: string): string {
  return `
  IF asked->'blobs' ? '${kind}' THEN
    WITH gone AS (
      DELETE FROM ${schema}.blobs b WHERE b.key = asked#>>'{blobs,key}' AND b.kind = '${kind}'
        RETURNING octet_length(b.bytes) AS size
    ) SELECT grown - coalesce(sum(gone.size), 0) INTO grown FROM gone;
    IF ${kind} IS NOT NULL THEN
      INSERT INTO ${schema}.blobs (key, kind, bytes) VALUES (asked#>>'{blobs,key}', '${kind}', ${kind});
      grown := grown + octet_length(${kind});
    END IF;
  END IF;`;
}

/** The last lock that a step takes, and the only one of its kind, so that nobody who waits here is waited for. */
function tallyStatements(schema: string): string {
  return `  IF added <> 0 OR grown <> 0 THEN
    UPDATE ${schema}.tally t SET records = t.records + added, bytes = t.bytes + grown WHERE t.stripe = coalesce(
      (SELECT s.stripe FROM ${schema}.tally s ORDER BY s.stripe <> pg_backend_pid() % ${stripes}, s.stripe
        LIMIT 1 FOR UPDATE SKIP LOCKED),
      pg_backend_pid() % ${stripes}
    );
  END IF;`;
}

/**
 * Forgets records whose time has come, with what lies beside them; answers how many. It takes no group's name: what is
 * forgotten only stood in somebody's way, and whoever has seen it there decides as if it came first. A record that a
 * step is about to write is left for the next time.
 */
export function expireFunction(schema: string): string {
  return `CREATE FUNCTION ${schema}.expire(most integer, clock bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE ${planning} AS $expire$
DECLARE
  now_ms constant bigint := ${nowSql('clock')};
  gone text[];
  added bigint;
  grown bigint;
BEGIN${promises}
  WITH passed AS (
    SELECT c.key FROM ${schema}.claims c WHERE c.forget_at_ms < now_ms
      ORDER BY c.forget_at_ms LIMIT most FOR UPDATE SKIP LOCKED
  ), dropped AS (
    DELETE FROM ${schema}.claims c USING passed WHERE c.key = passed.key RETURNING c.key
  ) SELECT coalesce(array_agg(dropped.key), '{}'), -count(*) INTO gone, added FROM dropped;
  WITH dropped AS (
    DELETE FROM ${schema}.blobs b WHERE b.key = ANY (gone) RETURNING octet_length(b.bytes) AS size
  ) SELECT -coalesce(sum(dropped.size), 0) INTO grown FROM dropped;
${tallyStatements(schema)}
  RETURN -added;
END
$expire$`;
}
