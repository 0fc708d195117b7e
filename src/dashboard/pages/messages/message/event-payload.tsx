import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Modal } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { CodeBlock } from '../../../ui/copy.tsx'

/** The body of a webhook, collapsed because it is long. It is the same for all endpoints. */
export function EventPayload({ payload }: { payload: string }) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Anchor component="button" type="button" size="sm" onClick={open}>
        <Trans>View payload</Trans>
      </Anchor>
      <Modal opened={opened} onClose={close} title={t`Webhook payload`} size="lg">
        <CodeBlock label={t`Payload`} code={format(payload)} />
      </Modal>
    </>
  )
}

function format(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}
