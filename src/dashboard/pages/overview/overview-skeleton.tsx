import { Trans } from '@lingui/react/macro'
import { Box, Paper, Skeleton, VisuallyHidden } from '@mantine/core'
import styles from './overview.module.css'
import { stages } from './statistics.ts'

/** A skeleton with the layout of the page. */
export function OverviewSkeleton() {
  return (
    <Box role="status" className={styles['body']}>
      <VisuallyHidden>
        <Trans>Loading</Trans>
      </VisuallyHidden>
      <Box className={styles['figures']}>
        {stages.map((stage) => (
          <Paper key={stage} radius={0} className={styles['figure']}>
            <Skeleton height={14} width="55%" />
            <Skeleton height={26} width="45%" mt={8} />
            <Skeleton height={11} width="75%" mt={8} />
            <Skeleton height={11} width="60%" mt={8} />
            <Skeleton height={28} mt={10} />
          </Paper>
        ))}
      </Box>
      <SectionSkeleton height={350} />
      <Box className={styles['columns']}>
        <SectionSkeleton height={260} />
        <SectionSkeleton height={260} />
      </Box>
    </Box>
  )
}

function SectionSkeleton({ height }: { height: number }) {
  return (
    <Paper withBorder p={{ base: 'md', sm: 'lg' }} mb="lg">
      <Skeleton height={18} width="35%" mb="lg" />
      <Skeleton height={height} />
    </Paper>
  )
}
