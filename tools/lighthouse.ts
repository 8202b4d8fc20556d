export { default } from 'lighthouse'
