import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Text } from '@mantine/core'
import { capitalize, say } from '../../language/facts.ts'
import { translate } from '../../language/i18n.ts'
import type { Job, ServerProcess } from '../../../../contracts/dashboard/console.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { ScrollingTable, tabular } from '../../ui/data-table.tsx'
import { LogTime } from '../../ui/date-time.tsx'
import { Section } from '../../ui/page.tsx'
import { describeDuration } from '../../ui/time.ts'
import { formatNumber } from '../../language/format.ts'
import { useServerFacts } from './use-console.ts'

/** The server's processes with their versions and jobs. */
export function ProcessesSection() {
  const processes = useServerFacts().data?.processes
  if (!processes) return null
  const versions = new Set(processes.filter(({ alive }) => alive).map(({ version }) => version))
  return (
    <>
      <Section
        title={t`Processes`}
        description={
          versions.size > 1
            ? t`Processes of ${versions.size} versions are running. Finish the upgrade on all nodes.`
            : t`Each process reports every 15 seconds.`
        }
      >
        {processes.length === 0 ? (
          <Text size="sm" c="dimmed">{t`No process has reported yet.`}</Text>
        ) : (
          <ProcessTable processes={processes} />
        )}
      </Section>
      <JobsSection processes={processes} />
    </>
  )
}

function ProcessTable({ processes }: { processes: ServerProcess[] }) {
  return (
    <ScrollingTable
      minWidth={620}
      items={processes}
      keyOf={({ id }) => id}
      columns={[
        { title: t`Host`, cell: ({ host }) => host },
        {
          title: t`State`,
          cell: ({ alive }) => (
            <StatusBadge tone={alive ? 'good' : 'bad'}>{alive ? t`Running` : t`Not responding`}</StatusBadge>
          ),
        },
        { title: t`Version`, cell: ({ version }) => version },
        { title: t`Role`, cell: ({ role }) => describeRole(role) },
        { title: t`Started`, cell: ({ startedAt }) => <LogTime at={startedAt} /> },
        { title: t`Last report`, cell: ({ seenAt }) => <LogTime at={seenAt} /> },
      ]}
    />
  )
}

const roles: Partial<Record<string, MessageDescriptor>> = {
  all: msg({ message: 'all' }),
  worker: msg({ message: 'worker' }),
}

function describeRole(role: string): string {
  const known = roles[role]
  return known ? translate(known) : role
}

/** Merges the same job of several nodes: takes the latest run and adds up runs and failures. */
function mergeJobs(processes: readonly ServerProcess[]): Job[] {
  const merged = new Map<string, Job>()
  for (const job of processes.filter(({ alive }) => alive).flatMap(({ jobs }) => jobs)) {
    const before = merged.get(job.name)
    const isLater = (job.lastRunAt ?? '') > (before?.lastRunAt ?? '')
    const lastFailureAt = [before?.lastFailureAt, job.lastFailureAt]
      .filter((at) => at !== undefined)
      .toSorted()
      .at(-1)
    merged.set(job.name, {
      ...(before && !isLater ? before : job),
      runs: (before?.runs ?? 0) + job.runs,
      failures: (before?.failures ?? 0) + job.failures,
      ...(lastFailureAt !== undefined && { lastFailureAt }),
    })
  }
  return [...merged.values()].toSorted(
    (one, other) => other.failures - one.failures || one.name.localeCompare(other.name),
  )
}

function JobsSection({ processes }: { processes: ServerProcess[] }) {
  const jobs = mergeJobs(processes)
  return (
    <Section
      title={t`Jobs`}
      description={t`Periodic work since the processes started, failures first. The log says why a job failed.`}
    >
      {jobs.length === 0 ? (
        <Text size="sm" c="dimmed">{t`No job has run yet.`}</Text>
      ) : (
        <ScrollingTable
          minWidth={620}
          verticalSpacing={6}
          style={tabular}
          items={jobs}
          keyOf={({ name }) => name}
          columns={[
            { title: t`Job`, cell: (job) => capitalize(say(job, 'name')) },
            { title: t`Interval`, ta: 'right', cell: ({ everySeconds }) => describeDuration(1000 * everySeconds) },
            { title: t`Last run`, cell: ({ lastRunAt: at }) => (at === undefined ? t`Not yet` : <LogTime at={at} />) },
            {
              title: t`Took`,
              ta: 'right',
              cell: ({ lastMilliseconds: took }) => (took === undefined ? '' : describeDuration(took)),
            },
            { title: t`Failures`, ta: 'right', cell: (job) => <Failures job={job} /> },
          ]}
        />
      )}
    </Section>
  )
}

function Failures({ job: { failures, runs, lastFailureAt } }: { job: Job }) {
  if (failures === 0) return t`None`
  return (
    <Text span inherit c="var(--mantine-color-error)">
      {t`${formatNumber(failures)} of ${formatNumber(runs)}`}
      {lastFailureAt !== undefined && (
        <>
          ,{' '}
          <Trans>
            last <LogTime at={lastFailureAt} />
          </Trans>
        </>
      )}
    </Text>
  )
}
