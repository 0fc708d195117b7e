import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Group, Stack, Switch, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { translate } from '../../language/i18n.ts'
import { maxContentsDays } from '../../../../contracts/dashboard/public-api.ts'
import { api } from '../../api/client.ts'
import { useChange, useFormChange } from '../../api/use-change.ts'
import { useAccount, viewersHint } from '../../session/session.ts'
import { ChangeButton } from '../../ui/button.tsx'
import { ConfirmModal } from '../../ui/dialog.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { describeDays } from '../../ui/time.ts'
import { checkWholeNumber, type TypedNumber } from '../../ui/whole-number.ts'
import { WholeNumberField } from '../../ui/fields.tsx'
import { apiAccessKey } from './use-api-access.ts'

const defaultDays = 30
const daysRange = { min: 1, max: maxContentsDays }

/** Whether message contents are stored, and for how long. */
export function MessageContentsSection({ keptDays }: { keptDays: number | undefined }) {
  const { canChange } = useAccount()
  const [confirming, { open, close }] = useDisclosure()
  const isOn = keptDays !== undefined
  const change = useChange({ ...useRetention(), onDone: close })
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
        {isOn && <RetentionForm key={keptDays} keptDays={keptDays} />}
      </Stack>
      <ConfirmModal
        opened={confirming}
        onClose={close}
        title={t`Delete all message contents?`}
        consequence={t`What your messages said is deleted and cannot be restored. The messages themselves stay in the log.`}
        confirmLabel={t`Turn off and delete`}
        change={{ isPending: change.isPending, mutate: () => change.mutate(null) }}
      />
    </Section>
  )
}

/** The change of how many days contents are stored; null: not at all. */
function useRetention() {
  const { accountId } = useAccount()
  return {
    change: (keptDays: number | null) => api.publicApi.setMessageContents.mutate({ accountId, keptDays }),
    invalidates: [apiAccessKey(accountId), ['messageContent', accountId]],
    done: ({ keptDays }: { keptDays: number | null }) =>
      keptDays === null
        ? t`Message contents are not stored.`
        : t`Message contents are stored for ${describeDays(keptDays)}.`,
  }
}

function RetentionForm({ keptDays }: { keptDays: number }) {
  const { canChange } = useAccount()
  const form = useForm<{ keptDays: TypedNumber }>({
    initialValues: { keptDays },
    validate: { keptDays: (days) => checkWholeNumber(days, daysRange) },
  })
  const save = useFormChange(form, useRetention())
  const submit = form.onSubmit(({ keptDays: days }) => save.submit(Number(days)))
  if (!canChange)
    return (
      <Text size="sm">
        <Trans>Deleted after {describeDays(keptDays)}.</Trans>
      </Text>
    )
  return (
    <form onSubmit={submit} noValidate>
      {save.problem !== undefined && <ErrorAlert error={save.problem} />}
      <Group align="flex-end" gap="sm">
        <WholeNumberField
          label={t`Delete after (days)`}
          description={t`1 to ${maxContentsDays}. At the latest with the message itself.`}
          {...daysRange}
          w={300}
          {...form.getInputProps('keptDays')}
        />
        <ChangeButton
          type="submit"
          variant="default"
          loading={save.isPending}
          disabled={Number(form.values.keptDays) === keptDays}
        >
          <Trans>Save</Trans>
        </ChangeButton>
      </Group>
    </form>
  )
}
