import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { CopyField } from './copy.tsx'

/** What becomes of a new invitation. Without a link, this server has sent it by email. */
export function InvitationSent({ email, link }: { email: string; link: string | undefined }) {
  if (link === undefined)
    return (
      <Text size="sm">
        <Trans>The link is on its way to {email}. It works once and expires after 24 hours.</Trans>
      </Text>
    )
  return (
    <>
      <Text size="sm">
        <Trans>
          This server does not send email. Send the link to {email} yourself. Anyone who has it can join in their place.
          It works once, expires after 24 hours, and is not shown again.
        </Trans>
      </Text>
      <InvitationLink link={link} />
    </>
  )
}

/** A link to pass on, with a warning if nobody else can open it. */
export function InvitationLink({ link }: { link: string }) {
  return (
    <>
      <CopyField label={t`Invitation link`} value={link} />
      {isLocal(link) && (
        <Alert color="yellow" icon={<IconAlertTriangle />}>
          <Trans>
            This link works only on the computer that runs this server. Ask the person who runs it to set its public
            address (WAYBILL_PUBLIC_URL), then invite again.
          </Trans>
        </Alert>
      )}
    </>
  )
}

function isLocal(link: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(link).hostname)
}
