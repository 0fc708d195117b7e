import { t } from '@lingui/core/macro'
import { Anchor, Box, Button, Center, Group, Stack, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { displayNames } from '../../language/format.ts'
import type { OwnTemplate } from '../../../../contracts/dashboard/template.ts'
import { QualityBadge, StatusBadge } from '../../ui/badges.tsx'
import { say } from '../../language/facts.ts'
import { useRowClicks } from '../../ui/row-clicks.ts'
import { UpcomingCategoryBadge } from './upcoming-category.tsx'
import { describeStatus, inWords } from './template-status.ts'
import type { TemplateName } from './use-templates.ts'

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
      <Anchor
        component={Link}
        to={to}
        preventScrollReset
        fw={600}
        size="sm"
        underline="hover"
        style={{ overflowWrap: 'anywhere' }}
      >
        {template.name}
      </Anchor>
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
