import { Section } from '../../ui/page.tsx'

export function EmailSection({ emails }: { emails: boolean }) {
  return (
    <Section
      title="Email"
      description={
        emails
          ? 'Every member of the account receives alerts by email.'
          : 'This server does not send email. An operator can set up an SMTP server.'
      }
    />
  )
}
