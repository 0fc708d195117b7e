import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { IconBuildingOff } from '@tabler/icons-react'
import { Navigate, Outlet, useParams } from 'react-router'
import { AccountContext, useUser } from '../session/session.ts'
import { PageHeader } from '../ui/page.tsx'
import { EmptyState } from '../ui/placeholders.tsx'
import { AccountBanners } from './account-banners.tsx'
import { NotFoundPage } from './fallback-pages.tsx'
import { SendingBanner } from './sending-banner.tsx'

/** Provides the account in the URL to the pages below it. */
export function AccountLayout() {
  const { accountId } = useParams()
  const account = useUser().accounts.find((account) => account.accountId === accountId)
  if (!account) return <NotFoundPage />
  return (
    <AccountContext value={{ ...account, canChange: account.role === 'owner' }}>
      <AccountBanners />
      <SendingBanner />
      {/* The key resets forms when the account changes. */}
      <Outlet key={account.accountId} />
    </AccountContext>
  )
}

const firstPage = 'overview'

/** Redirects to the account in the URL, or to the first account. */
export function FirstAccountPage() {
  const named = useParams()['accountId']
  const { accounts, email, operator } = useUser()
  const accountId = named ?? accounts[0]?.accountId
  if (accountId !== undefined) return <Navigate to={`/${accountId}/${firstPage}`} replace />
  if (operator !== undefined) return <Navigate to="/console" replace />
  return (
    <>
      <PageHeader title={t`Welcome`} />
      <EmptyState icon={IconBuildingOff} title={t`No accounts`}>
        <Trans>Ask your administrator to invite {email} to an account.</Trans>
      </EmptyState>
    </>
  )
}
