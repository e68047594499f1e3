/** The page and the route. */
import { index, route } from "@react-router/dev/routes";

export default [index("routes/home.jsx"), route("api/digit", "routes/digit.js")];
