import { plural, t } from '@lingui/core/macro'
import { Alert, Box, Button, Center, Group, Stack, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { IconCalendarDue } from '@tabler/icons-react'
import { displayNames } from '../../language/format.ts'
import type { OwnTemplate } from '../../../../contracts/dashboard/template.ts'
import { QualityBadge, StatusBadge } from '../../ui/badges.tsx'
import { say } from '../../language/facts.ts'
import { useRowClicks } from '../../ui/row-clicks.ts'
import { describeStatus, inWords } from './template-status.ts'
import type { TemplateName } from './use-templates.ts'
import type { CategoryCost } from '../../../../contracts/pricing.ts'
import { describeAmount } from '../../ui/money.ts'
import { describeTime } from '../../ui/time.ts'
import { TextLink } from '../../ui/button.tsx'

const stepSize = 50

interface TemplateListProps {
  templates: OwnTemplate[]
  linkTo: (template: TemplateName) => string
}

/** A table, or a list on a phone. Shows templates in steps, because browsers render thousands of rows slowly. */
export function TemplateList({ templates, linkTo }: TemplateListProps) {
  const [shown, setShown] = useState(stepSize)
  const rows = templates.slice(0, shown)
  return (
    <>
      <TemplateTable templates={rows} linkTo={linkTo} />
      <PhoneList templates={rows} linkTo={linkTo} />
      {templates.length > shown && (
        <Center p="md">
          <Button variant="default" onClick={() => setShown(shown + stepSize)}>{t`Show more`}</Button>
        </Center>
      )}
    </>
  )
}

function TemplateTable({ templates, linkTo }: TemplateListProps) {
  return (
    <Table visibleFrom="sm" horizontalSpacing="sm" fz="sm" highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t`Template`}</Table.Th>
          <Table.Th>{t`Status`}</Table.Th>
          <Table.Th>{t`Category`}</Table.Th>
          <Table.Th>{t`Quality`}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {templates.map((template) => (
          <TemplateRow key={keyOf(template)} template={template} to={linkTo(template)} />
        ))}
      </Table.Tbody>
    </Table>
  )
}

function TemplateRow({ template, to }: TemplateLinkProps) {
  const clicks = useRowClicks({ to, preventScrollReset: true })
  return (
    <Table.Tr style={{ cursor: 'pointer', verticalAlign: 'top' }} {...clicks}>
      <Table.Td miw={224}>
        <TemplateLink template={template} to={to} />
      </Table.Td>
      <Table.Td>
        <Status template={template} />
      </Table.Td>
      <Table.Td>
        {template.category === undefined ? '' : inWords(template.category)}
        <UpcomingCategoryBadge template={template} />
      </Table.Td>
      <Table.Td miw={136}>
        <QualityBadge quality={template.qualityScore} />
      </Table.Td>
    </Table.Tr>
  )
}

function PhoneList({ templates, linkTo }: TemplateListProps) {
  return (
    <Stack hiddenFrom="sm" gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
      {templates.map((template, index) => (
        <Box
          key={keyOf(template)}
          component="li"
          p="sm"
          style={index === 0 ? {} : { borderTop: '1px solid var(--waybill-line)' }}
        >
          <Group justify="space-between" align="flex-start" wrap="nowrap" gap="sm">
            <TemplateLink template={template} to={linkTo(template)} showsCategory />
            <TemplateStatusBadge template={template} />
          </Group>
          <Group gap="xs" mt={6}>
            <UpcomingCategoryBadge template={template} />
            {needsAttention(template) && <QualityBadge quality={template.qualityScore} />}
          </Group>
          {!template.sendable && (
            <Text size="sm" c="dimmed" mt={4}>
              {describeWhyNotSendable(template)}
            </Text>
          )}
        </Box>
      ))}
    </Stack>
  )
}

/** Whether WhatsApp rated the template, and not as good. */
function needsAttention({ qualityScore }: OwnTemplate): boolean {
  return qualityScore !== undefined && qualityScore !== 'GREEN' && qualityScore !== 'UNKNOWN'
}

interface TemplateLinkProps {
  template: OwnTemplate
  to: string
  showsCategory?: boolean
}

function TemplateLink({ template, to, showsCategory = false }: TemplateLinkProps) {
  return (
    <Box>
      <TextLink to={to} preventScrollReset fw={600} size="sm" underline="hover" style={{ overflowWrap: 'anywhere' }}>
        {template.name}
      </TextLink>
      <Text size="xs" c="dimmed">
        {describeLanguage(template.language)}
        {showsCategory && template.category !== undefined && ` · ${inWords(template.category)}`}
      </Text>
    </Box>
  )
}

function Status({ template }: { template: OwnTemplate }) {
  return (
    <>
      <TemplateStatusBadge template={template} />
      {!template.sendable && (
        <Text size="xs" c="dimmed" mt={4} maw={320}>
          {describeWhyNotSendable(template)}
        </Text>
      )}
    </>
  )
}

/** A green badge means that the template can be sent, for which WhatsApp's approval alone is not enough. */
export function TemplateStatusBadge({ template: { status, sendable } }: { template: OwnTemplate }) {
  const { tone, label } = describeStatus(status)
  return status === 'APPROVED' && !sendable ? (
    <StatusBadge tone="warning">{t`Approved, not sendable`}</StatusBadge>
  ) : (
    <StatusBadge tone={tone}>{label}</StatusBadge>
  )
}

/** Describes why a template cannot be sent. */
function describeWhyNotSendable({ status, reason = '', facts }: OwnTemplate): string {
  return status === 'APPROVED'
    ? t`Cannot be sent: ${say({ reason, facts }, 'reason')}.`
    : describeStatus(status).meaning
}

/** `en_US` becomes `American English (en_US)`. */
export function describeLanguage(code: string): string {
  try {
    return `${displayNames({ type: 'language' }).of(code.replace('_', '-'))} (${code})`
  } catch {
    return code
  }
}

function keyOf({ name, language }: TemplateName): string {
  return `${name} ${language}`
}

type Upcoming = NonNullable<OwnTemplate['upcomingCategory']>

/** WhatsApp rejects a template that belongs in this category, instead of changing it. */
const rejectedInstead = 'AUTHENTICATION'

/** The category that WhatsApp has announced for a template; nothing if it keeps its category. */
function UpcomingCategoryBadge({ template: { upcomingCategory } }: { template: OwnTemplate }) {
  if (!upcomingCategory) return null
  return (
    <Box mt={4}>
      <StatusBadge tone="warning">{describeChange(upcomingCategory)}</StatusBadge>
    </Box>
  )
}

function describeChange({ category, takesEffectAt }: Upcoming): string {
  const name = inWords(category)
  if (takesEffectAt === undefined) return category === rejectedInstead ? t`Will be rejected` : t`Becomes ${name}`
  const time = describeTime(takesEffectAt)
  return category === rejectedInstead ? t`Will be rejected ${time}` : t`Becomes ${name} ${time}`
}

export function UpcomingCategoryAlert({ template: { upcomingCategory } }: { template: OwnTemplate }) {
  if (!upcomingCategory) return null
  const { category, cost } = upcomingCategory
  const isRejected = category === rejectedInstead
  return (
    <Alert color="yellow" icon={<IconCalendarDue />} title={describeChange(upcomingCategory)}>
      <Text size="sm">
        {isRejected
          ? t`WhatsApp says that it belongs in the category ${inWords(category)}. Create it again in that category, and send the new one.`
          : t`WhatsApp announced this change. To keep the category, change the template before that day, or request a review in WhatsApp Manager.`}
      </Text>
      {cost && !isRejected && (
        <Text size="sm" mt="xs">
          {describeCost(cost)}
        </Text>
      )}
    </Alert>
  )
}

function describeCost({ messages, amount, newAmount, currency }: CategoryCost): string {
  const delivered = plural(messages, {
    one: '# message was delivered in the last 30 days.',
    other: '# messages were delivered in the last 30 days.',
  })
  if (amount === undefined || newAmount === undefined || currency === undefined) return delivered
  const [old, next] = [describeAmount(amount, currency), describeAmount(newAmount, currency)]
  return `${delivered} ${t`List price: ${old}; in the new category, it would have been ${next}.`}`
}
