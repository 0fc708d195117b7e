import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCopy, IconLanguage, IconPencil, IconTrash } from '@tabler/icons-react'
import type { OwnTemplate } from '../../../../contracts/dashboard/template.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton, LinkButton } from '../../ui/button.tsx'
import { ConfirmModal } from '../../ui/dialog.tsx'

interface TemplateActionsProps {
  template: OwnTemplate
  whatsAppAccountId: string | undefined
  onDeleted: () => void
}

const editable = new Set(['APPROVED', 'REJECTED', 'PAUSED'])
const deletedStatuses = new Set(['DELETED', 'PENDING_DELETION'])

/** Edit, duplicate, translate and delete. Hidden for viewers. */
export function TemplateActions({ template, whatsAppAccountId, onDeleted }: TemplateActionsProps) {
  const { accountId, canChange } = useAccount()
  const [confirming, { open, close }] = useDisclosure()
  const { name, language, status } = template
  const account: Record<string, string> = whatsAppAccountId === undefined ? {} : { account: whatsAppAccountId }
  const remove = useChange({
    change: () =>
      api.template.delete.mutate({
        accountId,
        name,
        language,
        ...(whatsAppAccountId !== undefined && { whatsAppAccountId }),
      }),
    invalidates: [['templates', accountId]],
    done: t`Deleted ${name} (${language}).`,
    onDone: () => {
      close()
      onDeleted()
    },
  })
  if (!canChange || deletedStatuses.has(status)) return null
  const linkTo = (query: Record<string, string>) =>
    `/${accountId}/templates/edit?${new URLSearchParams({ ...account, name, language, ...query })}`
  return (
    <Group gap="xs">
      {editable.has(status) && (
        <LinkButton to={linkTo({})} variant="default" size="xs" icon={IconPencil}>{t`Edit`}</LinkButton>
      )}
      <LinkButton to={linkTo({ copy: 'name' })} variant="default" size="xs" icon={IconCopy}>{t`Duplicate`}</LinkButton>
      <LinkButton to={linkTo({ copy: 'language' })} variant="default" size="xs" icon={IconLanguage}>
        <Trans>Add language</Trans>
      </LinkButton>
      <ChangeButton variant="default" size="xs" icon={IconTrash} onClick={open}>{t`Delete`}</ChangeButton>
      <ConfirmModal
        opened={confirming}
        onClose={close}
        title={t`Delete ${name} (${language})?`}
        consequence={t`It can no longer be sent. WhatsApp does not accept a new template with this name and language for several weeks.`}
        confirmLabel={t`Delete template`}
        change={remove}
      />
    </Group>
  )
}
