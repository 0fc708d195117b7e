import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { MessageDescriptor } from '@lingui/core'
import { Box, Group, SimpleGrid, Text } from '@mantine/core'
import type { AlertCode, AlertRules, AlertSeverity } from '../../../../contracts/dashboard/alert.ts'
import { translate } from '../../language/i18n.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { Section } from '../../ui/page.tsx'

interface Problem {
  name: MessageDescriptor
  severity: AlertSeverity
  /** When the other severity applies. */
  exception?: MessageDescriptor
  isOff?: (rules: AlertRules) => boolean
}

const problems = {
  whatsapp_account_inactive: {
    name: msg`A number can no longer send`,
    severity: 'critical',
    exception: msg`Warning if a member deactivated it.`,
  },
  token_expiring: {
    name: msg`An access token expires in 14, 7 or 1 days, or today`,
    severity: 'warning',
    exception: msg`Critical in the last two days.`,
  },
  quality_low: { name: msg`The quality rating of a number becomes medium or low`, severity: 'warning' },
  template_stopped: { name: msg`WhatsApp rejects, pauses or disables a template`, severity: 'warning' },
  template_category_changing: { name: msg`WhatsApp announces another category for a template`, severity: 'warning' },
  account_notice: {
    name: msg`WhatsApp restricts or warns a number, or reports a problem with it`,
    severity: 'warning',
    exception: msg`Critical if no templates are delivered.`,
  },
  messaging_limit: {
    name: msg`A business portfolio addressed 80% of the people that WhatsApp allows in 24 hours`,
    severity: 'warning',
    exception: msg`Critical from 100% on.`,
  },
  failure_rate: {
    name: msg`Many messages of a number fail`,
    severity: 'warning',
    exception: msg`Critical from 50% on.`,
    isOff: ({ failureRatePercent }) => failureRatePercent === null,
  },
  endpoint_failing: {
    name: msg`A webhook endpoint has failed for five minutes`,
    severity: 'warning',
    exception: msg`Critical once it is disabled.`,
  },
  delivery_lag: {
    name: msg`Webhook deliveries are late`,
    severity: 'warning',
    isOff: ({ deliveryLagSeconds }) => deliveryLagSeconds === null,
  },
  no_statuses: {
    name: msg`No statuses arrive for the messages of a number`,
    severity: 'critical',
    isOff: ({ noStatusMinMessages }) => noStatusMinMessages === null,
  },
} satisfies Record<AlertCode, Problem>

/** The problems that alerts report by email and in the chat. */
export function ProblemsSection({ rules }: { rules: AlertRules }) {
  return (
    <Section
      id="problems"
      title={t`Alert types`}
      description={t`Sent by email and to the chat. Quiet hours and repetition are set under Rules.`}
    >
      <SimpleGrid
        cols={{ base: 1, md: 2 }}
        verticalSpacing="sm"
        component="ul"
        m={0}
        p={0}
        style={{ listStyle: 'none' }}
      >
        {Object.entries<Problem>(problems).map(([code, problem]) => (
          <ProblemItem key={code} problem={problem} isOff={problem.isOff?.(rules) === true} />
        ))}
      </SimpleGrid>
      <Text size="sm" c="dimmed" mt="md" maw="var(--waybill-prose)">
        <Trans>
          Other problems of a WhatsApp account, such as a wrong callback URL, are only listed on the page of the
          account.
        </Trans>
      </Text>
    </Section>
  )
}

function ProblemItem({ problem: { name, severity, exception }, isOff }: { problem: Problem; isOff: boolean }) {
  return (
    <Group component="li" gap="xs" wrap="nowrap" align="flex-start">
      {/* Wide enough for each badge, so that the texts begin below each other. */}
      <Box w={80} style={{ flex: 'none' }}>
        {isOff ? <StatusBadge tone="neutral">{t`Off`}</StatusBadge> : <SeverityBadge severity={severity} />}
      </Box>
      <Text size="sm">
        {translate(name)}
        {exception && (
          <Text span inherit c="dimmed" display="block">
            {translate(exception)}
          </Text>
        )}
      </Text>
    </Group>
  )
}

export function SeverityBadge({ severity }: { severity: AlertSeverity }) {
  return severity === 'critical' ? (
    <StatusBadge tone="bad">{t`Critical`}</StatusBadge>
  ) : (
    <StatusBadge tone="warning">{t`Warning`}</StatusBadge>
  )
}
