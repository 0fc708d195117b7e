import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { CopyField } from '../../ui/copy.tsx'

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
