import { IconBuildingOff } from '@tabler/icons-react'
import { Navigate, Outlet, useParams } from 'react-router'
import { AccountContext, useOwner } from '../session/session.ts'
import { PageHeader } from '../ui/page.tsx'
import { EmptyState } from '../ui/placeholders.tsx'
import { NotFoundPage } from './fallback-pages.tsx'

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

/** Where an account begins. */
const firstPage = 'overview'

/** Leads to the account that the address names, or to the first one. */
export function FirstAccountPage() {
  const named = useParams()['accountId']
  const { accounts, email } = useOwner()
  const accountId = named ?? accounts[0]?.accountId
  if (accountId !== undefined) return <Navigate to={`/${accountId}/${firstPage}`} replace />
  return (
    <>
      <PageHeader title="Welcome" />
      <EmptyState icon={IconBuildingOff} title="No accounts">
        Ask your administrator to invite {email} to an account.
      </EmptyState>
    </>
  )
}
