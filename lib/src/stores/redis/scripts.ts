/**
 * What the server runs, in Lua. Nothing here knows a rule: a script compares what a step has seen with what is there,
 * and writes what the step decided. Every script names its keys from one prefix in braces, so that a cluster keeps all of
 * a store in one slot and a script may touch any of it.
 *
 * The keys of a store, after the prefix: `r:<key>` a record (v version, b text, i columns as JSON), `a:<key>` and
 * `p:<key>` its answer and payload, `size` two counters. Each index is a sorted set: `keys` and `money:<state>` of all
 * keys in their order; `older:<twins>`, `alias:<alias>`, `due` and `proof` of creation and key, so that what has one score
 * stands by age; `open:<payer>`, `unpaid:<payer>`, `forget` and `stale` of keys. A score is the moment from which the
 * entry counts, or until which; 0 where it always does.
 */

/** The questions that a store puts to the server, each a script. */
export type Script = 'attempt' | 'find' | 'due' | 'unproven' | 'page' | 'expire' | 'stale';

/**
 * What counts from some moment on stands by that moment, and is put in order of age where it is asked for; of more than
 * this the longest due come first. So many, of leases that ran out without a word, are ten milliseconds.
 */
const sortedLimit = 10_000;

/** The same everywhere: the time (a test's clock, or the server's own) and where a record is looked for. */
const shared = `
local P = KEYS[1]
local function clock(given)
  if given ~= '' then return tonumber(given) end
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end
local function text(n) return string.format('%.0f', n) end
local function aged(i) return string.format('%016.0f:', i.created) .. i.key end
local function keyof(member) return string.sub(member, 18) end
local function record(key)
  local r = redis.call('HMGET', P .. 'r:' .. key, 'v', 'b')
  return { r[1] or '', r[2] or '' }
end
local function records(keys)
  local found = {}
  for n, key in ipairs(keys) do found[n] = record(key) end
  return found
end
local function texts(members)
  local found = {}
  for n, member in ipairs(members) do found[n] = redis.call('HGET', P .. 'r:' .. keyof(member), 'b') end
  return found
end
`;

/**
 * Changes are planned whole before the first is made: a script that fails in the middle is not rolled back. Of what can
 * fail after that, a server without memory or disk, or one that became a replica, refuses the first write.
 */
const planning = `
-- The entries of a record: by index its member and score.
local function entries(columns)
  local i = cjson.decode(columns)
  local e = { keys = { i.key, '0' } }
  e['money:' .. i.money] = { i.key, '0' }
  if i.blocks then e['older:' .. i.twins] = { aged(i), text(i.blocks) } end
  if i.alias then e['alias:' .. i.alias] = { aged(i), '0' } end
  if i.exposed and i.open then e['open:' .. i.exposed] = { i.key, text(i.open) } end
  if i.exposed and not i.open then e['unpaid:' .. i.exposed] = { i.key, '0' } end
  if i.due then e.due = { aged(i), text(i.due) } end
  if i.proof then e.proof = { aged(i), text(i.proof) } end
  if i.forget then e.forget = { i.key, text(i.forget) } end
  if i.stale then e.stale = { i.key, text(i.stale) } end
  return e
end
local gone, new, more, octets, sound, kinds = {}, {}, 0, 0, true, {}
local function plan(list, name, e)
  if not kinds[name] then kinds[name] = redis.call('TYPE', P .. name).ok end
  if kinds[name] ~= 'none' and kinds[name] ~= 'zset' then sound = false end
  list[#list + 1] = { P .. name, e[1], e[2] }
end
local function change(before, after)
  for name, e in pairs(before) do
    if not after[name] or after[name][1] ~= e[1] then plan(gone, name, e) end
  end
  for name, e in pairs(after) do
    if not before[name] or before[name][1] ~= e[1] or before[name][2] ~= e[2] then plan(new, name, e) end
  end
end
local size = redis.call('HMGET', P .. 'size', 'records', 'octets')
for n = 1, 2 do
  size[n] = size[n] or '0'
  if not string.match(size[n], '^-?%d+$') then sound = false end
end
local function unsound() return redis.error_reply('WRONGTYPE Under a name of this store lies something else') end
local function index()
  for _, e in ipairs(new) do redis.call('ZADD', e[1], e[3], e[2]) end
  for _, e in ipairs(gone) do redis.call('ZREM', e[1], e[2]) end
end
local function count()
  if more ~= 0 then redis.call('HINCRBY', P .. 'size', 'records', more) end
  if octets ~= 0 then redis.call('HINCRBY', P .. 'size', 'octets', octets) end
end
`;

const attempt = `${shared}${planning}
local m = cjson.decode(ARGV[1])
local now = clock(m.clock)
local same = now >= m.at and now - m.at <= m.oldest
local function compare(keys, versions)
  if #keys ~= #versions then same = false end
  for n, key in ipairs(keys) do
    if (redis.call('HGET', P .. 'r:' .. key, 'v') or '') ~= versions[n] then same = false end
  end
end
local function oldest(members, limit)
  local keys = {}
  for n = 1, math.min(#members, limit) do keys[n] = keyof(members[n]) end
  return keys
end
local older, aliased, owes, full = {}, {}, 0, 0
compare(m.keys, m.versions)
if m.older then
  local name = P .. 'older:' .. m.older.twins
  local members = redis.call('ZRANGEBYSCORE', name, '-inf', text(now), 'LIMIT', 0, ${sortedLimit})
  table.sort(members)
  older = oldest(members, m.older.limit)
  compare(older, m.older.versions)
end
if m.aliased then
  local limit = m.aliased.limit
  aliased = oldest(redis.call('ZRANGE', P .. 'alias:' .. m.aliased.alias, 0, limit - 1), limit)
  compare(aliased, m.aliased.versions)
end
if m.exposure then
  local unpaid = redis.call('ZCARD', P .. 'unpaid:' .. m.exposure.payer)
  local open = redis.call('ZCOUNT', P .. 'open:' .. m.exposure.payer, '(' .. text(now), '+inf')
  if (unpaid > 0 and unpaid + open >= m.exposure.unpaid) or open >= m.exposure.open then owes = 1 end
  if (owes == 1) ~= m.exposure.expected then same = false end
end
if m.room and sound then
  if tonumber(size[1]) >= m.room.records or tonumber(size[2]) >= m.room.octets then full = 1 end
  if (full == 1) ~= m.room.expected then same = false end
end
if not same then return { text(now), records(m.keys), records(older), records(aliased), owes, full } end

local puts, drops, grows = {}, {}, false
for n, w in ipairs(m.writes) do
  local body, columns = ARGV[2 + 2 * n], ARGV[3 + 2 * n]
  local name = P .. 'r:' .. w.key
  local stood = redis.call('HGET', name, 'i')
  if w.version then
    puts[#puts + 1] = { 'HSET', name, 'v', w.version, 'b', body, 'i', columns }
    if not stood then more, grows = more + 1, true end
  elseif stood then
    drops[#drops + 1] = name
    more = more - 1
  end
  change(stood and entries(stood) or {}, w.version and entries(columns) or {})
end
local function blob(kind, what, bytes)
  if what == '' then return end
  local name = P .. kind .. ':' .. m.blobs.key
  octets = octets - redis.call('STRLEN', name)
  if what == 'drop' then
    drops[#drops + 1] = name
    return
  end
  octets = octets + #bytes
  grows = true
  puts[#puts + 1] = { 'SET', name, bytes }
end
if m.blobs then
  blob('a', m.blobs.answer, ARGV[2])
  blob('p', m.blobs.payload, ARGV[3])
end
if not sound then return unsound() end

-- A server whose memory is used up refuses HSET and SET where they are the first write, and nothing after it. It is to
-- refuse what makes a new record or keeps an answer; what became of money that is out is still written down there.
if not grows then redis.call('ZREM', P .. 'keys', '') end
for _, put in ipairs(puts) do redis.call(unpack(put)) end
index()
for _, name in ipairs(drops) do redis.call('UNLINK', name) end
count()
return 1
`;

const find = `${shared}
local r = record(ARGV[2])
return { text(clock(ARGV[1])), r[1], r[2] }
`;

const due = `${shared}
local now, limit = clock(ARGV[1]), tonumber(ARGV[2])
local members = redis.call('ZRANGEBYSCORE', P .. 'due', '-inf', '0', 'LIMIT', 0, limit)
for _, late in ipairs(redis.call('ZRANGEBYSCORE', P .. 'due', '(0', text(now), 'LIMIT', 0, ${sortedLimit})) do
  members[#members + 1] = late
end
table.sort(members)
for n = #members, limit + 1, -1 do members[n] = nil end
return texts(members)
`;

const unproven = `${shared}
return texts(redis.call('ZRANGEBYSCORE', P .. 'proof', '-inf', text(clock(ARGV[1])), 'LIMIT', 0, ARGV[2]))
`;

const page = `${shared}
local q, found = cjson.decode(ARGV[1]), {}
local now = clock(q.clock)
local last = q.after
local keys = redis.call('ZRANGEBYLEX', P .. q.index, last == '' and '-' or '(' .. last, '+', 'LIMIT', 0, q.looks)
for _, key in ipairs(keys) do
  last = key
  local r = redis.call('HMGET', P .. 'r:' .. key, 'i', 'b')
  local ok, i = pcall(cjson.decode, r[1])
  if not ok or type(i) ~= 'table' then i = {} end
  local alive = (tonumber(i.lease) or 0) > now
  if (not q.work or i.work == q.work) and (not q.flow or i.flow == q.flow)
    and (not q.lease or (q.lease == 'alive') == alive) then
    found[#found + 1] = r[2]
  end
  if #found == q.wanted then break end
end
return { last, #keys < q.looks and last == (keys[#keys] or q.after) and 1 or 0, found }
`;

const expire = `${shared}${planning}
local names, forgotten = {}, 0
local keys = redis.call('ZRANGEBYSCORE', P .. 'forget', '-inf', '(' .. text(clock(ARGV[1])), 'LIMIT', 0, ARGV[2])
for _, key in ipairs(keys) do
  local stood = redis.call('HGET', P .. 'r:' .. key, 'i')
  -- An entry without its record, as a repair by hand may leave it, goes too, or it would stand in the way for ever.
  -- One whose columns are damaged stays, since nobody could say in which indexes it stands.
  local sane, e = true, { forget = { key, '' } }
  if stood then sane, e = pcall(entries, stood) end
  if sane then
    change(e, {})
    if stood then more = more - 1 end
    octets = octets - redis.call('STRLEN', P .. 'a:' .. key) - redis.call('STRLEN', P .. 'p:' .. key)
    for _, kind in ipairs({ 'r:', 'a:', 'p:' }) do names[#names + 1] = P .. kind .. key end
    forgotten = forgotten + 1
  end
end
if not sound then return unsound() end
index()
for _, name in ipairs(names) do redis.call('UNLINK', name) end
count()
return forgotten
`;

const stale = `${shared}
local now = clock(ARGV[1])
return { text(now), records(redis.call('ZRANGEBYSCORE', P .. 'stale', '-inf', '(' .. text(now), 'LIMIT', 0, ARGV[2])) }
`;

/**
 * Of each script its text. KEYS: the prefix. ARGV and answer:
 * - attempt: the message as JSON, the octets of an answer and of a payload, or nothing, and of each write its text and its
 *   columns. 1 where the step was applied, else what is there: the time, the records that were asked for, the two groups,
 *   the two truths.
 * - find: clock, key. The time, the version and the text.
 * - due: clock, limit. The texts of what is due now, by age.
 * - unproven: clock, limit. The texts of settlements whose next look is due.
 * - page: a question as JSON. The last key that was looked at, whether none comes after it, and the texts.
 * - expire: clock, limit. Forgets records whose time has passed, with what lies beside them; how many.
 * - stale: clock, limit. The time, and version and text of records whose answer may be dropped.
 */
export const scripts: { readonly [script in Script]: string } = {
  attempt,
  find,
  due,
  unproven,
  page,
  expire,
  stale,
};
