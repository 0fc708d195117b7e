import type { OwnTemplate } from '../../../../contracts/dashboard/template.ts'
import { DateTime } from '../../ui/date-time.tsx'
import { Facts } from '../../ui/facts.tsx'
import { QualityBadge } from '../../ui/quality-badge.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { describeStatus, inWords } from './describe-status.ts'
import { describeLanguage } from './template-list.tsx'

export function TemplateFacts({ template }: { template: OwnTemplate }) {
  const { language, status, category, qualityScore, rejectedReason, syncedAt } = template
  const { tone, label } = describeStatus(status)
  return (
    <Facts
      facts={[
        { name: 'Language', value: describeLanguage(language) },
        { name: 'Status', value: <StatusBadge tone={tone}>{label}</StatusBadge> },
        ...(rejectedReason === undefined ? [] : [{ name: 'Refused for', value: inWords(rejectedReason) }]),
        ...(category === undefined ? [] : [{ name: 'Category', value: inWords(category) }]),
        { name: 'Quality', value: <QualityBadge quality={qualityScore} /> },
        { name: 'Last read', value: <DateTime at={syncedAt} /> },
      ]}
    />
  )
}
