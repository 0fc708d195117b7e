import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button } from '@mantine/core'
import { IconLogout, IconShieldLock } from '@tabler/icons-react'
import { Link } from 'react-router'
import { NotFoundPage } from '../../layout/fallback-pages.tsx'
import { useUser } from '../../session/session.ts'
import { useSignOut } from '../../session/use-sign-out.ts'
import { PageHeader } from '../../ui/page.tsx'
import { EmptyState } from '../../ui/placeholders.tsx'
import { AccountsSection } from './accounts-section.tsx'
import { CreateAccountButton } from './create-account.tsx'
import { ProcessesSection } from './processes-section.tsx'
import { ServerFacts } from './server-facts.tsx'
import { SlowEndpointsSection } from './slow-endpoints-section.tsx'

/** All accounts of the server, for operators. The server enforces access. */
export function ConsolePage() {
  const { operator } = useUser()
  if (operator === undefined) return <NotFoundPage />
  if (operator !== 'granted') return <SecondFactorNeeded isSetUp={operator === 'needs_code'} />
  return (
    <>
      <PageHeader
        title={t`Console`}
        description={t`All accounts of this server, and the server itself. What you change here is in the audit log of the account.`}
        actions={<CreateAccountButton />}
      />
      <ServerFacts />
      <AccountsSection />
      <SlowEndpointsSection />
      <ProcessesSection />
    </>
  )
}

function SecondFactorNeeded({ isSetUp }: { isSetUp: boolean }) {
  return (
    <>
      <PageHeader title={t`Console`} />
      {isSetUp ? <CodeNeeded /> : <AuthenticatorNeeded />}
    </>
  )
}

function AuthenticatorNeeded() {
  return (
    <EmptyState
      icon={IconShieldLock}
      title={t`Set up an authenticator app`}
      action={
        <Button component={Link} to="/profile">
          <Trans>Go to your profile</Trans>
        </Button>
      }
    >
      <Trans>
        The console needs two-factor authentication. Set up an authenticator app in your profile, then come back. If you
        have no password, ask for one with Forgot password.
      </Trans>
    </EmptyState>
  )
}

function CodeNeeded() {
  const signOut = useSignOut()
  return (
    <EmptyState
      icon={IconShieldLock}
      title={t`Sign in with a code`}
      action={
        <Button leftSection={<IconLogout size={16} />} onClick={() => void signOut('/sign-in?to=%2Fconsole')}>
          <Trans>Sign out</Trans>
        </Button>
      }
    >
      <Trans>
        The console needs a session that was started with a code of your authenticator app. Sign in again with your
        password and a code.
      </Trans>
    </EmptyState>
  )
}
