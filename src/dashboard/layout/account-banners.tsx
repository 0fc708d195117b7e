import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Box, Button, Group, Text } from '@mantine/core'
import { IconEye, IconPlayerPause } from '@tabler/icons-react'
import { useNavigate } from 'react-router'
import { operatorApi } from '../api/client.ts'
import { useChange } from '../api/use-change.ts'
import { useAccount } from '../session/session.ts'
import { LogTime } from '../ui/date-time.tsx'

/** Warnings about the account that every page shows. */
export function AccountBanners() {
  const { viewedUntil, suspendedAt } = useAccount()
  return (
    <>
      {viewedUntil !== undefined && <OperatorBanner until={viewedUntil} />}
      {suspendedAt !== undefined && <SuspendedBanner since={suspendedAt} />}
    </>
  )
}

function OperatorBanner({ until }: { until: string }) {
  const { accountId, name } = useAccount()
  const navigate = useNavigate()
  const close = useChange({
    change: () => operatorApi.account.closeView.mutate({ accountId }),
    invalidates: [],
    onDone: () => void navigate('/console'),
  })
  return (
    <Box role="note" aria-label={t`Operator view`} mb="lg">
      <Alert color="blue" icon={<IconEye />} title={t`You are viewing ${name} as an operator`}>
        <Group justify="space-between" gap="sm">
          <Text size="sm">
            <Trans>
              Read-only until <LogTime at={until} />. The audit log shows its members that you opened it.
            </Trans>
          </Text>
          <Button size="xs" variant="default" loading={close.isPending} onClick={() => close.mutate()}>
            <Trans>Stop viewing</Trans>
          </Button>
        </Group>
      </Alert>
    </Box>
  )
}

function SuspendedBanner({ since }: { since: string }) {
  return (
    <Alert color="red" icon={<IconPlayerPause />} title={t`This account is suspended`} role="alert" mb="lg">
      <Text size="sm">
        <Trans>
          Nothing can be sent since <LogTime at={since} />. Ask the operator of this server to resume the account.
        </Trans>
      </Text>
    </Alert>
  )
}
