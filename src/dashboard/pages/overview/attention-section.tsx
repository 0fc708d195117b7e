import { t } from '@lingui/core/macro'
import { Paper, Text, ThemeIcon, Title } from '@mantine/core'
import { IconAlertCircle, IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import type { Overview } from '../../../../contracts/dashboard/overview.ts'
import { useAccount } from '../../session/session.ts'
import { useAlerts } from '../alerts/use-alerts.ts'
import { useTemplateProblems } from '../templates/use-templates.ts'
import { useHealth } from '../whatsapp-accounts/use-health.ts'
import { type AttentionItem, listAttention } from './attention.ts'
import styles from './overview.module.css'
import { TextLink } from '../../ui/button.tsx'

/** Lists what needs attention, or states that nothing does. Empty if the data could not be loaded. */
export function AttentionSection({ overview }: { overview: Overview }) {
  const { accountId } = useAccount()
  const { sources } = useAttention(accountId)
  if (!sources) return null
  const items = listAttention({ ...sources, overview })
  if (items.length === 0)
    return (
      <Paper withBorder px="md" py="xs" mb="lg" className={styles['inOrder'] ?? ''}>
        <ThemeIcon variant="transparent" color="waybill" size="sm">
          <IconCircleCheck size={18} aria-hidden />
        </ThemeIcon>
        <Text size="sm">{t`Everything is in order. No alert is open, and all numbers and templates work.`}</Text>
      </Paper>
    )
  return (
    <Paper component="section" aria-label={t`Needs attention`} withBorder px="md" py="sm" mb="lg">
      <Title order={2} size="sm">{t`Needs attention`}</Title>
      <AttentionList items={items} />
    </Paper>
  )
}

export function AttentionList({ items }: { items: readonly AttentionItem[] }) {
  const { accountId } = useAccount()
  return (
    <ul className={styles['attention']}>
      {items.map((item) => (
        <li key={`${item.page} ${item.text}`}>
          <ToneIcon tone={item.tone} />
          <TextLink to={`/${accountId}/${item.page}`} size="sm">
            {item.text}
          </TextLink>
        </li>
      ))}
    </ul>
  )
}

function ToneIcon({ tone }: Pick<AttentionItem, 'tone'>) {
  const Icon = tone === 'bad' ? IconAlertCircle : IconAlertTriangle
  return <Icon size={16} aria-hidden className={styles['attentionIcon'] ?? ''} data-tone={tone} />
}

/** The data that shows what needs attention; undefined while it loads, or if a part could not be loaded. */
export function useAttention(accountId: string) {
  const alerts = useAlerts(accountId)
  const health = useHealth(accountId)
  const templates = useTemplateProblems(accountId)
  return {
    isPending: alerts.isPending || health.isPending || templates.isPending,
    sources:
      alerts.data && health.data && templates.data
        ? { alerts: alerts.data.items, health: health.data, templates: templates.data }
        : undefined,
  }
}
