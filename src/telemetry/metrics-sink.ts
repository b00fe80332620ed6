/** The labels of a metric, such as `{ extension_id: 'notes' }`. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Receives metrics. Only two methods, so that any metrics library can implement it. An error is logged and ignored. */
export interface MetricsSink {
  /** Adds `value` to the counter with this name and these labels. */
  counter(name: string, value: number, labels: MetricLabels): void;
  /** Records one value in the histogram with this name and these labels. */
  histogram(name: string, value: number, labels: MetricLabels): void;
}
