import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { api } from '../../api/client.ts'
import { useFormChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { Modal } from '../../ui/dialog.tsx'
import { TimeZoneField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'

/** Changes the account's time zone, which applies to all members. */
export function TimeZoneModal({ timeZone, onClose }: { timeZone: string; onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={t`Time zone`}>
      <TimeZoneForm timeZone={timeZone} onDone={onClose} />
    </Modal>
  )
}

function TimeZoneForm({ timeZone, onDone }: { timeZone: string; onDone: () => void }) {
  const { accountId } = useAccount()
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  const form = useForm({ initialValues: { timeZone } })
  const save = useFormChange(form, {
    change: (chosen: typeof form.values) => api.overview.setTimeZone.mutate({ accountId, ...chosen }),
    invalidates: [['overview', accountId]],
    done: ({ timeZone }) => t`Days are now in ${timeZone}.`,
    onDone,
  })
  return (
    <Form onSubmit={form.onSubmit(save.submit)} problem={save.problem}>
      <Text size="sm" c="dimmed">
        <Trans>
          Days and hours of the overview are in this time zone, for all members of the account. The API stays in UTC.
        </Trans>
      </Text>
      <TimeZoneField {...form.getInputProps('timeZone')} />
      <Group justify="space-between">
        {own === timeZone ? (
          <span />
        ) : (
          <Button variant="subtle" px={0} onClick={() => form.setFieldValue('timeZone', own)}>
            <Trans>Use {own}</Trans>
          </Button>
        )}
        <Button type="submit" loading={save.isPending}>{t`Save`}</Button>
      </Group>
    </Form>
  )
}
