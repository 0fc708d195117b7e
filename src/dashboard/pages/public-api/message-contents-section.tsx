import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Group, Stack, Switch, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { translate } from '../../language/i18n.ts'
import { maxContentsDays } from '../../../../contracts/dashboard/public-api.ts'
import { showInForm } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { notifyFailureMessage, useChange } from '../../api/use-change.ts'
import { useAccount, viewersHint } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { Section } from '../../ui/page.tsx'
import { describeDays } from '../../ui/time.ts'
import { checkWholeNumber, type TypedNumber } from '../../ui/whole-number.ts'
import { WholeNumberField } from '../../ui/fields.tsx'
import { apiAccessKey } from './use-api-access.ts'

const defaultDays = 30
const daysRange = { min: 1, max: maxContentsDays }

/** Whether message contents are stored, and for how long. */
export function MessageContentsSection({ keptDays }: { keptDays: number | undefined }) {
  const { accountId, canChange } = useAccount()
  const [confirming, { open, close }] = useDisclosure()
  const isOn = keptDays !== undefined
  const change = useChange({
    change: (days: number | null) => api.publicApi.setMessageContents.mutate({ accountId, keptDays: days }),
    invalidates: [apiAccessKey(accountId), ['messageContent', accountId]],
    done: ({ keptDays: days }) =>
      days === null ? t`Message contents are not stored.` : t`Message contents are stored for ${describeDays(days)}.`,
    onDone: close,
  })
  return (
    <Section
      id="message-contents"
      title={t`Message contents`}
      description={t`What your messages say: variables, headers and buttons. Stored encrypted, for the preview in the message log and to send a message again. One-time codes are never stored.`}
    >
      <Stack gap="md" align="flex-start">
        <Switch
          label={t`Store message contents`}
          description={`${t`Every member of this account can read them, viewers too.`}${canChange ? '' : ` ${translate(viewersHint)}.`}`}
          checked={isOn}
          disabled={!canChange || change.isPending}
          onChange={() => (isOn ? open() : change.mutate(defaultDays))}
        />
        {isOn && <RetentionForm key={keptDays} keptDays={keptDays} onSave={change.mutateAsync} />}
      </Stack>
      <ConfirmModal
        opened={confirming}
        onClose={close}
        title={t`Delete all message contents?`}
        consequence={t`What your messages said is deleted and cannot be restored. The messages themselves stay in the log.`}
        confirmLabel={t`Turn off and delete`}
        pending={change.isPending}
        onConfirm={() => change.mutate(null)}
      />
    </Section>
  )
}

interface RetentionFormProps {
  keptDays: number
  onSave: (days: number) => Promise<unknown>
}

function RetentionForm({ keptDays, onSave }: RetentionFormProps) {
  const { canChange } = useAccount()
  const form = useForm<{ keptDays: TypedNumber }>({
    initialValues: { keptDays },
    validate: { keptDays: (days) => checkWholeNumber(days, daysRange) },
  })
  const submit = form.onSubmit(({ keptDays: days }) => {
    onSave(Number(days)).catch((error: unknown) => {
      const rest = showInForm(form, error)
      if (rest !== undefined) notifyFailureMessage(rest)
    })
  })
  if (!canChange)
    return (
      <Text size="sm">
        <Trans>Deleted after {describeDays(keptDays)}.</Trans>
      </Text>
    )
  return (
    <form onSubmit={submit} noValidate>
      <Group align="flex-end" gap="sm">
        <WholeNumberField
          label={t`Delete after (days)`}
          description={t`1 to ${maxContentsDays}. At the latest with the message itself.`}
          {...daysRange}
          w={300}
          {...form.getInputProps('keptDays')}
        />
        <ChangeButton type="submit" variant="default" disabled={Number(form.values.keptDays) === keptDays}>
          <Trans>Save</Trans>
        </ChangeButton>
      </Group>
    </form>
  )
}
