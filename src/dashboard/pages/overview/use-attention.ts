import { useAlerts } from '../alerts/use-alerts.ts'
import { useTemplateProblems } from '../templates/use-template-problems.ts'
import { useHealth } from '../whatsapp-accounts/use-health.ts'

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
