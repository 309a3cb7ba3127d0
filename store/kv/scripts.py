"""The Lua scripts of the Redis engine. Redis runs a script alone, so nothing comes between its reads and its writes.

A record is a deadline and a version of 13 digits each, 8 bytes that identify the write, and the value. Both numbers are
milliseconds, have 13 digits until the year 2286, and so compare as text. The deadline uses Coffret's clock; Redis' own
expiry only removes expired records. The write's identifier distinguishes a command that was sent again, because its
connection broke before the response, from a second write. A stored response has the fingerprint's 32 bytes in its
place.
"""

import hashlib
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Script:
    """A script and the digest by which Redis knows it."""

    source: str
    sha: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sha", hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest())


TOUCH = Script("""
-- KEYS: record. ARGV: now, deadline, life.
local record = redis.call('GET', KEYS[1])
if not record or string.sub(record, 1, 13) <= ARGV[1] then return false end
redis.call('SETRANGE', KEYS[1], 0, ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return record
""")

PUT = Script("""
-- A write on no condition: half the time that WRITE takes, and carts are made more often than anything else is done.
-- KEYS: record, expiries. ARGV: record, its life, life of notes.
local version = string.sub(ARGV[1], 14, 26)
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', version - ARGV[3])
redis.call('ZADD', KEYS[2], version, KEYS[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return true
""")

WRITE = Script("""
-- KEYS: record[, kept answer][, expiries].
-- ARGV: now, condition, name of the write, deadline, life, value, version, life of notes or nothing
-- [, answer, fingerprint, deadline, life].
local now, condition, name, version = ARGV[1], ARGV[2], ARGV[3], ARGV[7]
local answer = ARGV[9] and KEYS[2]

if answer then
  local kept = redis.call('GET', answer)
  if kept and string.sub(kept, 1, 13) > now then
    if string.sub(kept, 27, 58) ~= ARGV[10] then return {'mismatch'} end
    return {'replayed', string.sub(kept, 14, 26), string.sub(kept, 59)}
  end
end

if condition ~= 'always' then
  local header = redis.call('GETRANGE', KEYS[1], 0, 33)
  local live, held = string.sub(header, 1, 13) > now, string.sub(header, 14, 26)
  if live and string.sub(header, 27) == name then return {'written', held} end
  local met = live and (condition == 'present' or condition == held) or not live and condition == 'absent'
  if not met then return {'refused'} end
  if live and held >= version then
    version = string.format('%013.0f', tonumber(held) + 1)
    -- The answer tells the version, so it must be made anew.
    if answer then return {'stale', version} end
  end
end

redis.call('SET', KEYS[1], ARGV[4] .. version .. name .. ARGV[6], 'PX', ARGV[5])
if answer then redis.call('SET', answer, ARGV[11] .. version .. ARGV[10] .. ARGV[9], 'PX', ARGV[12]) end
if ARGV[8] ~= '' then
  local expiries = KEYS[#KEYS]
  redis.call('ZREMRANGEBYSCORE', expiries, '-inf', now - ARGV[8])
  redis.call('ZADD', expiries, version, KEYS[1])
  redis.call('PEXPIRE', expiries, ARGV[8])
end
return {'written', version}
""")

DELETE = Script("""
-- KEYS: record[, expiries]. ARGV: now, version or nothing.
local header = redis.call('GETRANGE', KEYS[1], 0, 25)
if string.sub(header, 1, 13) <= ARGV[1] then return 0 end
if ARGV[2] ~= '' and string.sub(header, 14, 26) ~= ARGV[2] then return 0 end
if KEYS[2] then redis.call('ZREM', KEYS[2], KEYS[1]) end
return redis.call('DEL', KEYS[1])
""")

INCREMENT = Script("""
-- KEYS: records, whose versions are the counts. ARGV: now, and for each: deadline, life, how many to count.
local counts = {}
for at = 1, #KEYS do
  local first, life, more = ARGV[3 * at - 1], ARGV[3 * at], tonumber(ARGV[3 * at + 1])
  local header = redis.call('GETRANGE', KEYS[at], 0, 25)
  local deadline, count = string.sub(header, 1, 13), string.sub(header, 14, 26)
  if deadline > ARGV[1] then
    count = math.max(0, tonumber(count) + more)
    counts[at] = deadline .. string.format('%013.0f', count)
    redis.call('SETRANGE', KEYS[at], 13, string.sub(counts[at], 14))
  elseif more > 0 then
    counts[at] = first .. string.format('%013.0f', more)
    redis.call('SET', KEYS[at], counts[at], 'PX', life)
  else
    counts[at] = ARGV[1] .. string.format('%013.0f', 0)
  end
end
-- One string is read in less time than a list of lists.
return table.concat(counts)
""")

EXPIRE = Script("""
-- KEYS: expiries, records. ARGV: now, version of the last write that has ended.
local told = {}
for at = 2, #KEYS do
  local version = redis.call('ZSCORE', KEYS[1], KEYS[at])
  local deadline = redis.call('GETRANGE', KEYS[at], 0, 12)
  if version and tonumber(version) <= tonumber(ARGV[2]) and deadline <= ARGV[1] then
    local record = redis.call('GET', KEYS[at])
    if record then redis.call('SETRANGE', KEYS[at], 0, '0000000000000') end
    told[#told + 1] = {KEYS[at], version, record}
  end
end
return told
""")

ACKNOWLEDGE = Script("""
-- KEYS: expiries. ARGV: key and version of each record.
for at = 1, #ARGV, 2 do
  local version = redis.call('ZSCORE', KEYS[1], ARGV[at])
  if version and tonumber(version) <= tonumber(ARGV[at + 1]) then redis.call('ZREM', KEYS[1], ARGV[at]) end
end
return true
""")
