import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { readFailure } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { Modal } from '../../ui/dialog.tsx'
import { TimeZoneField } from '../../ui/fields.tsx'

/** Changes the account's time zone, which applies to all members. */
export function TimeZoneControl({ timeZone }: { timeZone: string }) {
  const { role } = useAccount()
  const [opened, { open, close }] = useDisclosure()
  if (role !== 'owner') return null
  return (
    <>
      <Anchor component="button" type="button" size="sm" onClick={open}>{t`Change time zone`}</Anchor>
      <Modal opened={opened} onClose={close} title={t`Time zone`}>
        <TimeZoneForm timeZone={timeZone} onDone={close} />
      </Modal>
    </>
  )
}

function TimeZoneForm({ timeZone, onDone }: { timeZone: string; onDone: () => void }) {
  const { accountId } = useAccount()
  const [value, setValue] = useState(timeZone)
  const [problem, setProblem] = useState<string>()
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  const save = useChange({
    change: () => api.overview.setTimeZone.mutate({ accountId, timeZone: value }),
    invalidates: [['overview', accountId]],
    done: ({ timeZone }) => t`Days are now in ${timeZone}.`,
    onDone,
    onFailure: (error) => setProblem(readFailure(error).message),
  })
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          <Trans>
            Days and hours of the overview are in this time zone, for all members of the account. The API stays in UTC.
          </Trans>
        </Text>
        <TimeZoneField
          value={value}
          onChange={(zone) => {
            setValue(zone)
            setProblem(undefined)
          }}
          error={problem}
        />
        <Group justify="space-between">
          {own === timeZone ? (
            <span />
          ) : (
            <Button variant="subtle" px={0} onClick={() => setValue(own)}>
              <Trans>Use {own}</Trans>
            </Button>
          )}
          <Button type="submit" loading={save.isPending}>{t`Save`}</Button>
        </Group>
      </Stack>
    </form>
  )
}
