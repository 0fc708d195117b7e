import { expect, test } from 'vitest'
import {
  type IdentityChangeReport,
  type IdentityReport,
  planIdentities,
  type StoredIdentity,
} from '../../../src/messages/recipients/plan-identities.ts'
import { mergeDecisions, type SuppressionDecision } from '../../../src/messages/recipients/store-identities.ts'
import { spellingsOf, storedKeysOf, toNumberKey } from '../../../src/messages/suppressions/number-key.ts'

const accountId = 'acc_1'
const at = (second: number) => new Date(1_790_000_000_000 + second * 1000)

function seen(
  second: number,
  numbers: string[],
  userId?: string,
  parentUserId?: string,
  wabaId = 'w1',
): IdentityReport {
  return { accountId, wabaId, numbers, userId, parentUserId, at: at(second) }
}

/** Applies reports one by one, as callbacks do, and returns the person of each name and all transferred suppressions. */
function apply(...reports: (IdentityReport | IdentityChangeReport)[]) {
  let stored: StoredIdentity[] = []
  const transferred: string[] = []
  for (const report of reports) {
    const { changed, removed, transfers } = planIdentities(stored, [report])
    const gone = new Set([...changed, ...removed].map(({ identity }) => identity))
    stored = [...stored.filter(({ identity }) => !gone.has(identity)), ...changed]
    transferred.push(...transfers.map(({ kind, from, to }) => `${kind} ${from} to ${to}`))
  }
  return { persons: Object.fromEntries(stored.map(({ identity, person }) => [identity, person])), transferred }
}

test('lets the number stand for a person with a number and user IDs', () => {
  const { persons } = apply(seen(1, ['34600111222'], 'ES.1', 'ES.ENT.9'))

  expect(persons).toEqual({ 34600111222: '34600111222', 'ES.1': '34600111222', 'ES.ENT.9': '34600111222' })
})

test('stores nothing about a user ID alone', () => {
  expect(apply(seen(1, [], 'ES.1'))).toEqual({ persons: {}, transferred: [] })
})

test('moves suppressions from user IDs to the number when it is learned', () => {
  const { persons, transferred } = apply(seen(1, [], 'ES.1', 'ES.ENT.9'), seen(2, ['34600111222'], 'ES.1'))

  expect(persons).toEqual({ 34600111222: '34600111222', 'ES.1': '34600111222', 'ES.ENT.9': '34600111222' })
  expect(transferred).toContain('move ES.1 to 34600111222')
})

test('treats spellings that WhatsApp reports in one answer as one number', () => {
  const { persons, transferred } = apply(
    seen(1, ['2250701020304'], 'CI.1'),
    seen(2, ['22501020304'], undefined),
    seen(3, ['22501020304', '2250701020304', '2250718139912', '2252722123456', '22522123456']),
  )

  expect(new Set(Object.values(persons))).toEqual(new Set(['22501020304']))
  expect(transferred).toContain('move 2250701020304 to 22501020304')
})

test('writes a known name again only when it is a day old', () => {
  const stored = planIdentities([], [seen(0, ['34600111222'], 'ES.1')]).changed

  expect(planIdentities(stored, [seen(3600, ['34600111222'], 'ES.1')])).toEqual({
    changed: [],
    removed: [],
    transfers: [],
  })
  expect(planIdentities(stored, [seen(86_400, ['34600111222'], 'ES.1')]).changed).toHaveLength(2)
})

const contradictions = {
  'a user ID with another number': {
    reports: [seen(1, ['34600111222'], 'ES.1'), seen(2, ['34600111333'], 'ES.1')],
    persons: { 34600111222: '34600111222', 34600111333: '34600111333', 'ES.1': '34600111333' },
    transferred: 'copy 34600111222 to 34600111333',
  },
  'a number with another user ID': {
    reports: [seen(1, ['34600111222'], 'ES.1'), seen(2, ['34600111222'], 'ES.2')],
    persons: { 34600111222: '34600111222', 'ES.2': '34600111222' },
    transferred: 'copy 34600111222 to ES.1',
  },
}

test.each(Object.entries(contradictions))(
  'keeps the later of two reports about %s',
  (_, { reports, persons, transferred }) => {
    const inOrder = apply(...reports)
    const late = apply(...reports.toReversed())

    expect(inOrder.persons).toEqual(persons)
    expect(late.persons).toEqual(persons)
    expect(inOrder.transferred).toContain(transferred)
    expect(late.transferred).toContain(transferred)
  },
)

test('keeps the user IDs of two portfolios that know the same number', () => {
  const { persons } = apply(
    seen(1, ['34600111222'], 'ES.1', undefined, 'w1'),
    seen(2, ['34600111222'], 'ES.2', undefined, 'w2'),
  )

  expect(persons).toEqual({ 34600111222: '34600111222', 'ES.1': '34600111222', 'ES.2': '34600111222' })
})

test('moves the names of a person whose number changed', () => {
  const { persons, transferred } = apply(seen(1, ['34600111222'], 'ES.1', 'ES.ENT.1'), {
    accountId,
    wabaId: 'w1',
    at: at(2),
    previous: { numbers: ['34600111222'], userId: 'ES.1', parentUserId: 'ES.ENT.1' },
    current: { numbers: ['34600111333'], userId: 'ES.2', parentUserId: 'ES.ENT.2' },
  })

  expect(persons).toEqual({
    34600111222: '34600111222',
    34600111333: '34600111333',
    'ES.1': '34600111333',
    'ES.2': '34600111333',
    'ES.ENT.1': '34600111333',
    'ES.ENT.2': '34600111333',
  })
  expect(transferred).toContain('copy 34600111222 to 34600111333')
})

test.each([
  { known: [seen(1, ['34600111222'], 'ES.1')], person: '34600111222' },
  { known: [seen(1, [], 'ES.1', 'ES.ENT.1')], person: 'ES.2' },
  { known: [seen(1, ['34600111222'], 'ES.2'), seen(1, [], 'ES.1', 'ES.ENT.1')], person: '34600111222' },
])('gives the names of a person to the new user ID: $person', ({ known, person }) => {
  const change: IdentityChangeReport = {
    accountId,
    wabaId: 'w1',
    at: at(2),
    previous: { numbers: [], userId: 'ES.1' },
    current: { numbers: [], userId: 'ES.2' },
  }

  const { persons } = apply(...known, change)

  expect(persons).toMatchObject({ 'ES.1': person, 'ES.2': person })
})

test('stores no names of a person who changed and is not known, but transfers a suppression', () => {
  const { persons, transferred } = apply({
    accountId,
    wabaId: 'w1',
    at: at(2),
    previous: { numbers: ['34600111222'] },
    current: { numbers: ['34600111333'] },
  })

  expect(persons).toEqual({})
  expect(transferred).toEqual(['copy 34600111222 to 34600111333'])
})

const decision = (
  suppressed: boolean,
  reason: SuppressionDecision['reason'],
  second: number,
  allMessages = false,
): SuppressionDecision => ({
  id: `sup_${second}`,
  suppressed,
  reason,
  whatsAppAccountId: null,
  since: at(second),
  changedAt: at(second),
  allMessages,
  addedBy: null,
})
const out = (reason: SuppressionDecision['reason'], second: number, allMessages?: boolean) =>
  decision(true, reason, second, allMessages)
const into = (reason: SuppressionDecision['reason'], second: number) => decision(false, reason, second)

test.each([
  { case: 'START after STOP', one: out('reply', 1), other: into('reply', 2), suppressed: false },
  { case: 'STOP after START', one: into('reply', 1), other: out('reply', 2), suppressed: true },
  { case: 'START after a preference', one: out('preference', 1), other: into('reply', 2), suppressed: true },
  { case: 'a resumed preference after STOP', one: out('reply', 1), other: into('preference', 2), suppressed: false },
  {
    case: 'a resumed preference after a manual entry',
    one: out('manual', 1),
    other: into('preference', 2),
    suppressed: true,
  },
  { case: 'a removal after a preference', one: out('preference', 1), other: into('manual', 2), suppressed: false },
  { case: 'a preference after a removal', one: into('manual', 1), other: out('preference', 2), suppressed: true },
  { case: 'two opt-ins', one: into('reply', 1), other: into('manual', 2), suppressed: false },
])('merges decisions about one person, $case: suppressed is $suppressed', ({ one, other, suppressed }) => {
  expect(mergeDecisions(one, other).suppressed).toBe(suppressed)
  expect(mergeDecisions(other, one)).toEqual(mergeDecisions(one, other))
})

test('keeps since and all messages of the earlier of two opt-outs', () => {
  expect(mergeDecisions(out('manual', 1, true), out('reply', 2))).toMatchObject({ since: at(1), allMessages: true })
})

test.each([
  { one: out('manual', 1), other: out('reply', 2), reason: 'manual' },
  { one: out('reply', 1), other: out('manual', 2), reason: 'manual' },
  { one: out('import', 1), other: out('manual', 2), reason: 'manual' },
  { one: out('preference', 1), other: out('reply', 2), reason: 'preference' },
  { one: out('reply', 1), other: out('preference', 2), reason: 'preference' },
  { one: out('rejected', 1), other: out('reply', 2), reason: 'rejected' },
])('keeps the reason $reason of two opt-outs, which the other cannot lift', ({ one, other, reason }) => {
  expect(mergeDecisions(one, other)).toMatchObject({ suppressed: true, reason, changedAt: at(2) })
  expect(mergeDecisions(other, one)).toEqual(mergeDecisions(one, other))
})

test.each([
  { country: 'Argentina', long: '5491155550171', short: '541155550171' },
  { country: 'Benin', long: '2290197000000', short: '22997000000' },
  { country: 'Ivory Coast (Moov)', long: '2250102123456', short: '22502123456' },
  { country: 'Ivory Coast (MTN)', long: '2250544123456', short: '22544123456' },
  { country: 'Ivory Coast (Orange)', long: '2250707123456', short: '22507123456' },
  { country: 'Mexico', long: '5215512345678', short: '525512345678' },
  { country: 'Brazil', long: '5511987654321', short: '551187654321' },
])('compares both spellings of a number in $country alike', ({ long, short }) => {
  expect([toNumberKey(long), toNumberKey(short)]).toEqual([short, short])
  expect(spellingsOf(long).toSorted()).toEqual([long, short].toSorted())
  expect(storedKeysOf(long)[0]).toBe(short)
})

test.each(['34600111222', '14155550100', '5491155550', '22997', 'ES.549115555017100', '2250701020304'])(
  'compares %s as it is',
  (recipient) => {
    expect(spellingsOf(recipient)).toEqual([recipient])
    expect(storedKeysOf(recipient)).toEqual([recipient])
  },
)
