/**
 * What the server runs, in Lua. Nothing here knows a rule: a script compares what a step has seen with what is there,
 * and writes what the step decided. Every script names its keys from one prefix in braces, so that a cluster keeps all of
 * a store in one slot and a script may touch any of it.
 *
 * The keys of a store, after the prefix: `r:<key>` a record (v version, b text, i columns as JSON), `a:<key>` and
 * `p:<key>` its answer and payload, `keys` and `money:<state>` all keys in their order, `older:<twins>` and
 * `alias:<alias>` the members of a group with their age, `unpaid:<payer>` and `open:<payer>` what a payer has run up,
 * `due` by age with `duefrom` beside it, `proof`, `forget` and `stale` by their moment, `size` two counters.
 */

/** The questions that a store puts to the server, each a script. */
export type Script = 'attempt' | 'find' | 'due' | 'unproven' | 'page' | 'expire' | 'stale';

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
local function record(key)
  local r = redis.call('HMGET', P .. 'r:' .. key, 'v', 'b')
  return { r[1] or '', r[2] or '' }
end
-- The entries of a record in the indexes: by index its kind, the member, and the score or value.
local function entries(i)
  local e = { keys = { 'zset', i.key, '0' } }
  e['money:' .. i.money] = { 'zset', i.key, '0' }
  if i.blocks then e['older:' .. i.twins] = { 'hash', i.key, text(i.blocks) .. ' ' .. text(i.created) } end
  if i.alias then e['alias:' .. i.alias] = { 'hash', i.key, text(i.created) } end
  if i.exposed and i.open then e['open:' .. i.exposed] = { 'zset', i.key, text(i.open) } end
  if i.exposed and not i.open then e['unpaid:' .. i.exposed] = { 'set', i.key, '' } end
  if i.due then
    e.due = { 'zset', aged(i), '0' }
    e.duefrom = { 'hash', i.key, text(i.due) }
  end
  if i.proof then e.proof = { 'zset', aged(i), text(i.proof) } end
  if i.forget then e.forget = { 'zset', i.key, text(i.forget) } end
  if i.stale then e.stale = { 'zset', i.key, text(i.stale) } end
  return e
end
local function put(name, e)
  if e[1] == 'zset' then redis.call('ZADD', P .. name, e[3], e[2])
  elseif e[1] == 'hash' then redis.call('HSET', P .. name, e[2], e[3])
  else redis.call('SADD', P .. name, e[2]) end
end
local function take(name, e)
  if e[1] == 'zset' then redis.call('ZREM', P .. name, e[2])
  elseif e[1] == 'hash' then redis.call('HDEL', P .. name, e[2])
  else redis.call('SREM', P .. name, e[2]) end
end
local function grow(what, by)
  if by ~= 0 then redis.call('HINCRBY', P .. 'size', what, by) end
end
`;

const attempt = `${shared}
local m = cjson.decode(ARGV[1])
local now = clock(m.clock)
local same = now >= m.at and now - m.at <= m.oldest
local records = {}
for n, key in ipairs(m.keys) do
  records[n] = record(key)
  if records[n][1] ~= m.versions[n] then same = false end
end
local function group(name, limit, expected, reached)
  local members = {}
  local all = redis.call('HGETALL', name)
  for n = 1, #all, 2 do
    local from, created = string.match(all[n + 1], '^(%d+) (%d+)$')
    if not from then from, created = '0', all[n + 1] end
    if not reached or tonumber(from) <= now then
      members[#members + 1] = { string.format('%016.0f:', tonumber(created)) .. all[n], all[n] }
    end
  end
  table.sort(members, function(a, b) return a[1] < b[1] end)
  local found = {}
  for n = 1, math.min(#members, limit) do
    found[n] = record(members[n][2])
    if found[n][1] ~= expected[n] then same = false end
  end
  if #found ~= #expected then same = false end
  return found
end
local older, aliased, owes, full = {}, {}, 0, 0
if m.older then older = group(P .. 'older:' .. m.older.twins, m.older.limit, m.older.versions, true) end
if m.aliased then aliased = group(P .. 'alias:' .. m.aliased.alias, m.aliased.limit, m.aliased.versions, false) end
if m.exposure then
  local unpaid = redis.call('SCARD', P .. 'unpaid:' .. m.exposure.payer)
  local open = redis.call('ZCOUNT', P .. 'open:' .. m.exposure.payer, '(' .. text(now), '+inf')
  if (unpaid > 0 and unpaid + open >= m.exposure.unpaid) or open >= m.exposure.open then owes = 1 end
  if (owes == 1) ~= m.exposure.expected then same = false end
end
if m.room then
  local size = redis.call('HMGET', P .. 'size', 'records', 'octets')
  if tonumber(size[1] or 0) >= m.room.records or tonumber(size[2] or 0) >= m.room.octets then full = 1 end
  if (full == 1) ~= m.room.expected then same = false end
end
if not same then return { text(now), records, older, aliased, owes, full } end

-- What is to be written is made out first, so that whatever can be wrong is found before the first write: a script that
-- fails in the middle is not rolled back.
local gone, new, more, octets = {}, {}, 0, 0
local kinds = {}
local function plan(list, name, e)
  if not kinds[name] then kinds[name] = redis.call('TYPE', P .. name).ok end
  if kinds[name] ~= 'none' and kinds[name] ~= e[1] then return false end
  list[#list + 1] = { name, e }
  return true
end
for _, w in ipairs(m.writes) do
  local stood = redis.call('HGET', P .. 'r:' .. w.key, 'i')
  local before = stood and entries(cjson.decode(stood)) or {}
  local after = w.body and entries(cjson.decode(w.columns)) or {}
  if w.body and not stood then more = more + 1 end
  if stood and not w.body then more = more - 1 end
  local sound = true
  for name, e in pairs(before) do
    local next = after[name]
    if not next or next[2] ~= e[2] then sound = plan(gone, name, e) and sound end
  end
  for name, e in pairs(after) do
    local last = before[name]
    if not last or last[2] ~= e[2] or last[3] ~= e[3] then sound = plan(new, name, e) and sound end
  end
  if not sound then return redis.error_reply('WRONGTYPE An index holds somebody else\\'s data') end
end
local blobs = {}
local function blob(kind, what, bytes)
  if what == '' then return end
  local name = P .. kind .. ':' .. m.blobs.key
  octets = octets - redis.call('STRLEN', name)
  if what == 'put' then octets = octets + #bytes end
  blobs[#blobs + 1] = { name, what, bytes }
end
if m.blobs then
  blob('a', m.blobs.answer, ARGV[2])
  blob('p', m.blobs.payload, ARGV[3])
end

-- A server out of memory refuses the first write of a script or none. So a write that grows comes first, and such a step
-- fails whole; one that only deletes still goes through. No step deletes one record and writes another.
for _, w in ipairs(m.writes) do
  if w.body then redis.call('HSET', P .. 'r:' .. w.key, 'v', w.version, 'b', w.body, 'i', w.columns)
  else redis.call('DEL', P .. 'r:' .. w.key) end
end
for _, one in ipairs(gone) do take(one[1], one[2]) end
for _, one in ipairs(new) do put(one[1], one[2]) end
for _, one in ipairs(blobs) do
  if one[2] == 'put' then redis.call('SET', one[1], one[3]) else redis.call('DEL', one[1]) end
end
grow('records', more)
grow('octets', octets)
return 1
`;

const find = `${shared}
local r = record(ARGV[2])
return { text(clock(ARGV[1])), r[1], r[2] }
`;

const due = `${shared}
local now, limit, found, at = clock(ARGV[1]), tonumber(ARGV[2]), {}, 0
while #found < limit do
  local page = redis.call('ZRANGE', P .. 'due', at, at + 499)
  if #page == 0 then break end
  at = at + #page
  for _, member in ipairs(page) do
    local key = string.sub(member, 18)
    if #found < limit and tonumber(redis.call('HGET', P .. 'duefrom', key) or 0) <= now then
      found[#found + 1] = redis.call('HGET', P .. 'r:' .. key, 'b')
    end
  end
end
return found
`;

const unproven = `${shared}
local found = {}
local members = redis.call('ZRANGEBYSCORE', P .. 'proof', '-inf', text(clock(ARGV[1])), 'LIMIT', 0, ARGV[2])
for n, member in ipairs(members) do
  found[n] = redis.call('HGET', P .. 'r:' .. string.sub(member, 18), 'b')
end
return found
`;

const page = `${shared}
local q, found = cjson.decode(ARGV[1]), {}
local now = clock(q.clock)
local last = q.after
local keys = redis.call('ZRANGEBYLEX', P .. q.index, last == '' and '-' or '(' .. last, '+', 'LIMIT', 0, q.looks)
for _, key in ipairs(keys) do
  last = key
  local r = redis.call('HMGET', P .. 'r:' .. key, 'i', 'b')
  local i = r[1] and cjson.decode(r[1]) or {}
  local alive = (i.lease or 0) > now
  if (not q.work or i.work == q.work) and (not q.flow or i.flow == q.flow)
    and (not q.lease or (q.lease == 'alive') == alive) then
    found[#found + 1] = r[2]
  end
  if #found == q.wanted then break end
end
return { last, #keys < q.looks and last == (keys[#keys] or q.after) and 1 or 0, found }
`;

const expire = `${shared}
local keys = redis.call('ZRANGEBYSCORE', P .. 'forget', '-inf', '(' .. text(clock(ARGV[1])), 'LIMIT', 0, ARGV[2])
for _, key in ipairs(keys) do
  local i = redis.call('HGET', P .. 'r:' .. key, 'i')
  local octets = redis.call('STRLEN', P .. 'a:' .. key) + redis.call('STRLEN', P .. 'p:' .. key)
  for name, e in pairs(entries(cjson.decode(i))) do take(name, e) end
  redis.call('DEL', P .. 'r:' .. key, P .. 'a:' .. key, P .. 'p:' .. key)
  grow('records', -1)
  grow('octets', -octets)
end
return #keys
`;

const stale = `${shared}
local now = clock(ARGV[1])
local found = {}
local keys = redis.call('ZRANGEBYSCORE', P .. 'stale', '-inf', '(' .. text(now), 'LIMIT', 0, ARGV[2])
for n, key in ipairs(keys) do found[n] = record(key) end
return { text(now), found }
`;

/**
 * Of each script its text. KEYS: the prefix. ARGV and answer:
 * - attempt: the message as JSON, then the octets of an answer and of a payload, or nothing. 1 where the step was applied,
 *   else what is there: the time, the records that were asked for, the two groups, the two truths.
 * - find: clock, key. The time, the version and the text.
 * - due: clock, limit. Walks by age over what is, or will be, due; the texts of what is due now.
 * - unproven: clock, limit. The texts of settlements whose next look is due.
 * - page: a question as JSON. The last key that was looked at, whether none comes after it, and the texts.
 * - expire: clock, limit. Forgets records whose time has passed, with what lies beside them; answers how many.
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
