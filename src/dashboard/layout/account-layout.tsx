import { Outlet, useParams } from 'react-router'
import { NotFoundPage } from '../pages/not-found-page.tsx'
import { AccountContext } from '../session/account.ts'
import { useOwner } from '../session/session.ts'

/** The account that the address names, for the pages below it. */
export function AccountLayout() {
  const { accountId } = useParams()
  const account = useOwner().accounts.find((account) => account.accountId === accountId)
  if (!account) return <NotFoundPage />
  return (
    <AccountContext value={{ ...account, canChange: account.role === 'owner' }}>
      {/* Another account is another page: nothing half typed goes along. */}
      <Outlet key={account.accountId} />
    </AccountContext>
  )
}
