import { expect, test } from 'vitest'
import { mergeAccountChanges, toAccountChange } from '../../src/whatsapp-accounts/account-changes.ts'
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
