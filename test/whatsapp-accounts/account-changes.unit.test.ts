import { expect, test } from 'vitest'
import {
  type AccountChange,
  mergeAccountChanges,
  toAccountChange,
} from '../../src/whatsapp-accounts/account-changes.ts'
import type { ReportedAccount, ReportedNotice } from '../../src/whatsapp/callbacks/read-account.ts'

const at = (second: number) => new Date(Date.UTC(2026, 10, 20, 9, 0, second))

function report(second: number | undefined, isOver: boolean): ReportedAccount {
  const notice: ReportedNotice = {
    key: 'restriction',
    kind: 'restriction',
    type: 'ACCOUNT_RESTRICTION',
    restrictions: [],
    at: second === undefined ? undefined : at(second),
    isOver,
  }
  return { notices: [notice] } as unknown as ReportedAccount
}

test.each([
  { case: 'the end after the problem', first: report(1, false), second: report(2, true), isOver: true },
  { case: 'the problem, reported again after its end', first: report(2, true), second: report(1, false), isOver: true },
  { case: 'another problem after the end', first: report(1, true), second: report(2, false), isOver: false },
  { case: 'a report without a time', first: report(1, true), second: report(undefined, false), isOver: false },
])('keeps the later report of $case', ({ first, second, isOver }) => {
  const merged = mergeAccountChanges(toAccountChange(first), toAccountChange(second))

  expect([...merged.notices.values()].map((notice) => notice.isOver)).toEqual([isOver])
})

const disabled = (second?: number) => activity('disabled', second)
const reinstated = (second?: number) => activity('reinstated', second)

function activity(change: ReportedAccount['change'], second?: number): ReportedAccount {
  return { ownerId: '1', change, reason: change, notices: [], at: second === undefined ? undefined : at(second) }
}

const recheck = { ...activity('recheck'), at: at(9) }

test.each([
  { case: 'disabled, then reinstated', reports: [disabled(1), reinstated(2)], isActive: true, second: 2 },
  { case: 'reinstated, then disabled', reports: [reinstated(1), disabled(2)], isActive: false, second: 2 },
  { case: 'reinstated before it arrived', reports: [reinstated(2), disabled(1)], isActive: true, second: 2 },
  { case: 'disabled before it arrived', reports: [disabled(2), reinstated(1)], isActive: false, second: 2 },
  { case: 'repeated', reports: [disabled(1), reinstated(3), disabled(1), disabled(2)], isActive: true, second: 3 },
  { case: 'without times', reports: [reinstated(), disabled(), reinstated()], isActive: true },
  { case: 'with others', reports: [recheck, disabled(1), recheck], isActive: false, second: 1 },
])('applies the last report of an account $case', ({ reports, isActive, second }) => {
  const [first, ...others] = reports.map(toAccountChange)
  const merged = others.reduce(mergeAccountChanges, first as AccountChange)

  expect(merged.disabledFor === undefined || merged.reinstated).toBe(isActive)
  expect(merged.activityAt).toEqual(second === undefined ? undefined : at(second))
})
