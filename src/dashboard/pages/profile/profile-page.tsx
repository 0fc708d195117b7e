import { useOwner } from '../../session/session.ts'
import { Facts } from '../../ui/facts.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Section } from '../../ui/section.tsx'
import { AuthenticatorSection } from './authenticator-section.tsx'
import { ChangePasswordForm } from './change-password-form.tsx'

const roleNames = { owner: 'Owner', viewer: 'Viewer' }

export function ProfilePage() {
  const { name, email, accounts } = useOwner()
  return (
    <>
      <PageHeader title="Profile" description="You, and how you sign in." />
      <Section title="About you">
        <Facts
          facts={[
            { name: 'Name', value: name },
            { name: 'E-mail', value: email },
          ]}
        />
      </Section>
      {accounts.length > 0 && (
        <Section
          title="Your accounts"
          description="Owners may change everything. Viewers see everything and change nothing."
        >
          <Facts
            facts={accounts.map(({ accountId, name, role }) => ({ id: accountId, name, value: roleNames[role] }))}
          />
        </Section>
      )}
      <Section
        title="Change password"
        description="This ends every other session: wherever else you are signed in, you have to sign in again."
      >
        <ChangePasswordForm email={email} />
      </Section>
      <AuthenticatorSection />
    </>
  )
}
